/// Linux's `epoll`, which is not part of Swift's module of the C library.
#include <sys/epoll.h>
