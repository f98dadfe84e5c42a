/// Opens at run time what an exchange stands on: libcurl, and of the libraries behind it what is used by itself.
#if defined(__linux__)

#include "abi.h"

#include <pthread.h>

static void open_all(void) {
    void *library = library_open();
    if (!library) return;
    chain_find_functions(library, ycurl_lib.version_info(0)->tls);
    codings_find_functions();
}

int ycurl_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_all);
    return library_availability();
}

#endif
