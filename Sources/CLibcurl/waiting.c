/// The wait of a loop's thread for events.
///
/// Waking a blocked thread takes 10 to 20 us on an otherwise idle machine. If an app makes one call after the other, a
/// loop whose thread always blocks spends most of the time on wake-ups. Therefore the thread checks for events without
/// blocking for a moment, as long as such checks have found events before. With several requests in progress, it blocks:
/// with 32 requests on two processors, the checks took processor time from the callers and halved the throughput.
#if defined(__linux__)

#include "exchange.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/// The time in nanoseconds for which the thread checks for events before it blocks.
#define BRIEF 50000
/// The number of fruitless checks in a row after which the number of waits without a check no longer doubles. From then
/// on, 64 waits follow each check, so a fruitless check costs less than a microsecond per wait.
#define MOST_FRUITLESS 6

/// Checks for events without blocking. Returns the number of events, or -1 if the process was stopped meanwhile, which
/// interrupts a blocking wait as well.
static int poll_briefly(ycurl_loop *loop, struct epoll_event *events, int most) {
    if (loop->running_count > 1) return 0;
    if (loop->skipped_polls > 0) {
        loop->skipped_polls--;
        return 0;
    }
    int64_t now = ycurl_now(), end = now + BRIEF;
    for (; now < end; now = ycurl_now()) {
        int count = epoll_wait(loop->epoll, events, most, 0);
        if (count == 0 && atomic_load(&loop->waits) == POLLS) continue;
        loop->fruitless_polls = 0;
        return count;
    }
    if (now - end >= LATENESS) {
        errno = EINTR;
        return -1;
    }
    if (loop->fruitless_polls < MOST_FRUITLESS) loop->fruitless_polls++;
    loop->skipped_polls = 1u << loop->fruitless_polls;
    return 0;
}

/// Returns whether another thread can run while this one checks for events.
static bool has_several_processors(void) {
    static _Atomic int count;
    int known = atomic_load_explicit(&count, memory_order_relaxed);
    if (!known) {
        known = (int)sysconf(_SC_NPROCESSORS_ONLN);
        atomic_store_explicit(&count, known, memory_order_relaxed);
    }
    return known > 1;
}

int loop_await(ycurl_loop *loop, struct epoll_event *events, int most, int wait_ms) {
    int count = wait_ms != 0 && has_several_processors() ? poll_briefly(loop, events, most) : 0;
    if (count != 0) return count;
    enum waiting polls = POLLS;
    bool blocks = wait_ms != 0 && atomic_compare_exchange_strong(&loop->waits, &polls, BLOCKS);
    return epoll_wait(loop->epoll, events, most, blocks ? wait_ms : 0);
}

#endif
