/// Linux's `epoll`, which the module of the C library leaves out.
#include <sys/epoll.h>
