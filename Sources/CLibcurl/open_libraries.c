/// Opens libcurl at run time, and those libraries of libcurl that this target also uses directly.
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
