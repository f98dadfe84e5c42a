/// Opens libcurl at run time and determines its properties.
#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OLDEST_VERSION 0x074400
#define CURL_GLOBAL_DEFAULT 3

struct curl_functions ycurl_lib;

static int availability = YCURL_MISSING;
static char message[512];
static unsigned version;
static int features;
static char encodings_line[64];

const char *library_find(void *library, const struct wanted_function *wanted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, wanted[i].name);
        if (!found) return wanted[i].name;
        *(void **)wanted[i].place = found;
    }
    return NULL;
}

static const char *find_functions(void *library) {
    const struct wanted_function wanted[] = {
        {"curl_global_init_mem", &ycurl_lib.global_init_mem},
        {"curl_version_info", &ycurl_lib.version_info},
        {"curl_easy_strerror", &ycurl_lib.easy_strerror},
        {"curl_easy_init", &ycurl_lib.easy_init},
        {"curl_easy_cleanup", &ycurl_lib.easy_cleanup},
        {"curl_easy_setopt", &ycurl_lib.easy_setopt},
        {"curl_easy_getinfo", &ycurl_lib.easy_getinfo},
        {"curl_easy_pause", &ycurl_lib.easy_pause},
        {"curl_easy_send", &ycurl_lib.easy_send},
        {"curl_easy_recv", &ycurl_lib.easy_recv},
        {"curl_multi_init", &ycurl_lib.multi_init},
        {"curl_multi_cleanup", &ycurl_lib.multi_cleanup},
        {"curl_multi_setopt", &ycurl_lib.multi_setopt},
        {"curl_multi_add_handle", &ycurl_lib.multi_add_handle},
        {"curl_multi_remove_handle", &ycurl_lib.multi_remove_handle},
        {"curl_multi_socket_action", &ycurl_lib.multi_socket_action},
        {"curl_multi_info_read", &ycurl_lib.multi_info_read},
    };
    return library_find(library, wanted, sizeof wanted / sizeof wanted[0]);
}

/// Lists the codings that this libcurl can decode.
static void list_encodings(void) {
    snprintf(encodings_line, sizeof encodings_line, "Accept-Encoding: %s%s%s",
             features & CURL_VERSION_LIBZ ? "gzip, deflate" : "identity", features & CURL_VERSION_BROTLI ? ", br" : "",
             features & CURL_VERSION_ZSTD ? ", zstd" : "");
}

void *library_open(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(message, sizeof message,
                 "libcurl.so.4 was not found. Install it: apt-get install libcurl4 (Debian, Ubuntu), "
                 "dnf install libcurl (Fedora, RHEL). %s", dlerror());
        return NULL;
    }
    const char *missing = find_functions(library);
    if (missing) {
        availability = YCURL_UNUSABLE;
        snprintf(message, sizeof message, "libcurl.so.4 has no function %s.", missing);
        return NULL;
    }
    // An age of 0 requests only the oldest fields. Every version fills these fields in.
    const struct curl_version_info *info = ycurl_lib.version_info(0);
    if (info->version_number < OLDEST_VERSION) {
        availability = YCURL_TOO_OLD;
        snprintf(message, sizeof message, "libcurl %s is too old: 7.68 or newer is needed. Update the system's libcurl.",
                 info->version);
        return NULL;
    }
    // If the host program has already initialized libcurl, libcurl keeps the memory functions of that initialization.
    int code = ycurl_lib.global_init_mem(CURL_GLOBAL_DEFAULT, ycurl_malloc, ycurl_free, ycurl_realloc, ycurl_strdup,
                                         ycurl_calloc);
    if (code != CURLE_OK) {
        availability = YCURL_UNUSABLE;
        snprintf(message, sizeof message, "libcurl could not be set up: %s", ycurl_lib.easy_strerror(code));
        return NULL;
    }
    version = info->version_number;
    features = info->features;
    list_encodings();
    availability = YCURL_AVAILABLE;
    snprintf(message, sizeof message, "libcurl %s", info->version);
    return library;
}

int library_availability(void) { return availability; }

const char *ycurl_open_message(void) { return message; }

unsigned ycurl_version(void) { return version; }

bool ycurl_has_feature(int bit) { return (features & bit) != 0; }

const char *ycurl_encodings_line(void) { return encodings_line; }

const char *ycurl_error_text(int code) { return ycurl_lib.easy_strerror(code); }

int64_t ycurl_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct thread_start {
    void (*body)(void *);
    void *context;
};

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), "switchyard-curl");
    start.body(start.context);
    return NULL;
}

int ycurl_start_thread(void (*body)(void *), void *context) {
    struct thread_start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    *start = (struct thread_start){body, context};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The thread inherits the mask, so it never receives a signal of the host program, including SIGPIPE. The signals
    // of its own faults must not be blocked: a blocked fault would end the process without calling any handler (POSIX
    // leaves the behavior undefined).
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    pthread_t thread;
    int failure = pthread_create(&thread, &attributes, run_thread, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failure) free(start);
    return failure;
}

#endif
