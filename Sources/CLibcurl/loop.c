/// One multi handle, driven through libcurl's socket callbacks by an epoll set. The cost of an event therefore does not
/// depend on the number of waiting exchanges.
#if defined(__linux__)

#include "exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int set_timer(void *multi, long wait_ms, void *context) {
    (void)multi;
    ycurl_loop *loop = context;
    loop->timer = wait_ms < 0 ? INT64_MAX : loop->now + (int64_t)wait_ms * 1000000;
    return 0;
}

// MARK: Lifetime

static bool open_multi(ycurl_loop *loop) {
    loop->multi = ycurl_lib.multi_init();
    if (!loop->multi) return false;
    loop->timer = loop->stall_end = INT64_MAX;
    ycurl_lib.multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, sockets_watch);
    ycurl_lib.multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    ycurl_lib.multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    ycurl_lib.multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    for (size_t i = 0; i < loop->option_count; i++)
        ycurl_lib.multi_setopt(loop->multi, loop->options[i].option, loop->options[i].value);
    return true;
}

ycurl_loop *ycurl_loop_create(void) {
    ycurl_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->now = ycurl_now();
    loop->sharing_due = INT64_MAX;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // The event is edge-triggered, so that the counter never has to be read.
    bool whole = loop->epoll >= 0 && loop->wake >= 0 &&
                 sockets_control(loop, EPOLL_CTL_ADD, loop->wake, EPOLLIN | EPOLLET) == 0;
    if (whole && open_multi(loop)) return loop;
    int error = errno ? errno : ENOMEM;
    ycurl_loop_destroy(loop);
    errno = error;
    return NULL;
}

void loop_take_off(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    // This is set first, because libcurl now releases its socket and the release must not be reported.
    if (exchange->place == RUNNING) exchange->place = IDLE;
    if (exchange->sharing.link) sharing_end(exchange);
    loop->running_count--;
    if (exchange->body == YCURL_BODY_FED) loop->fed_count--;
    if (exchange->links[AHEAD].is_listed) early_forget(loop, exchange);
    void *multi = exchange->connection ? connection_multi(loop, exchange) : loop->multi;
    ycurl_lib.multi_remove_handle(multi, exchange->easy);
}

static void close_multi(ycurl_loop *loop) {
    if (loop->multi) ycurl_lib.multi_cleanup(loop->multi);
    loop->multi = NULL;
    memory_give_back(loop);
}

void ycurl_loop_end(ycurl_loop *loop) {
    while (loop->abandoned) {
        struct ycurl_exchange *exchange = loop->abandoned;
        loop->abandoned = exchange->links[FINISHED].next;
        loop_take_off(loop, exchange);
        ycurl_exchange_destroy(exchange);
    }
    close_multi(loop);
    memory_end(loop);
}

void ycurl_loop_destroy(ycurl_loop *loop) {
    ycurl_loop_end(loop);
    if (loop->epoll >= 0) close(loop->epoll);
    if (loop->wake >= 0) close(loop->wake);
    free(loop->sockets);
    free(loop->heap);
    free(loop);
}

int ycurl_loop_set(ycurl_loop *loop, int option, long value) {
    if (loop->option_count < sizeof loop->options / sizeof loop->options[0])
        loop->options[loop->option_count++] = (struct loop_option){option, value};
    return ycurl_lib.multi_setopt(loop->multi, option, value);
}

void ycurl_loop_remember(ycurl_loop *loop, ycurl_servers *servers) { loop->servers = servers; }

// MARK: Exchanges

/// Decides whether a request needs a connection of its own.
static void choose_connection(ycurl_loop *loop, ycurl_exchange *exchange) {
    // Before 7.80, libcurl does not report that it is about to send a request again on a new connection. To be sent
    // only once, a request must then never reuse a connection.
    bool needs_own = exchange->needs_own_connection || exchange->refusal.count;
    bool fresh = exchange->fresh || needs_own || (exchange->once && ycurl_version() < 0x075000);
    if (loop->deaf_count && deaf_remains(loop, exchange)) fresh = true;
    if (fresh == exchange->configured.fresh) return;
    ycurl_lib.easy_setopt(exchange->easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
    exchange->configured.fresh = fresh;
}

int ycurl_loop_add(ycurl_loop *loop, ycurl_exchange *exchange) {
    exchange->last_activity = loop->now;
    // An earlier attempt may have closed its socket, and another exchange may use the number now. On a connection that
    // several exchanges share, libcurl reports no socket that would replace the number.
    exchange->socket = -1;
    if (!deadlines_renew(loop, exchange)) return -1;
    // libcurl copies the overrides of a handle into the loop's table only once, and the loop may have a new table.
    if (exchange->resolve) ycurl_lib.easy_setopt(exchange->easy, YCURL_RESOLVE, exchange->resolve);
    if (exchange->once && loop->kept_count) sockets_end_idle(exchange);
    choose_connection(loop, exchange);
    if (exchange->shares) sharing_begin(exchange);
    void *multi = exchange->connection ? connection_multi(loop, exchange) : loop->multi;
    int code = multi ? ycurl_lib.multi_add_handle(multi, exchange->easy) : -1;
    if (code != 0) deadlines_set(loop, exchange, INT64_MAX);
    if (code != 0) return code;
    exchange->place = RUNNING;
    loop->running_count++;
    if (exchange->body == YCURL_BODY_FED) loop->fed_count++;
    return code;
}

static void forget_abandoned(ycurl_loop *loop, const struct ycurl_exchange *gone) {
    struct ycurl_exchange **link = &loop->abandoned;
    while (*link && *link != gone) link = &(*link)->links[FINISHED].next;
    if (*link) *link = gone->links[FINISHED].next;
}

/// Resends a request that its server has not processed. Returns false if that is impossible.
static bool send_again(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    refusal_forget_request(exchange);
    if (exchange->refusal.count > 1 || exchange->place == ABANDONED) return false;
    exchange->connecting = UNCONNECTED;
    return ycurl_loop_add(loop, exchange) == 0;
}

/// Starts a request on a connection of its own if it had to leave another one before it was sent. Returns false if the
/// request ended for another reason, or if it cannot be started.
static bool start_on_own_connection(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    bool leaves = exchange->needs_own_connection && !exchange->was_sent;
    bool is_ended = exchange->verdict != YCURL_NO_VERDICT || exchange->links[FINISHED].is_listed;
    if (!leaves || is_ended || exchange->place != RUNNING) return false;
    loop_take_off(loop, exchange);
    exchange->words[0] = 0;
    exchange->connecting = UNCONNECTED;
    if (ycurl_loop_add(loop, exchange) != 0) loop_note_finished(loop, exchange, CURLE_OUT_OF_MEMORY);
    return true;
}

/// Removes an exchange that libcurl has finished.
static void finish(ycurl_loop *loop, struct ycurl_exchange *exchange, int code) {
    if (exchange->shares && sharing_park(exchange)) return;
    if (start_on_own_connection(loop, exchange)) return;
    bool has_connection = exchange->connection && exchange->place == RUNNING && code == CURLE_OK;
    if (has_connection && connection_begin(exchange)) return;
    if (has_connection) code = -1;
    // libcurl does not report a stream that is refused after the head of its response.
    if (code != CURLE_OK && exchange->may_be_multiplexed) exchange->notes_refusal = true;
    if (code != CURLE_OK) sharing_note_failure(exchange);
    bool is_refused = code != CURLE_OK && exchange->verdict == YCURL_NO_VERDICT && refusal_holds(exchange);
    code = exchange_judge_end(exchange, code);
    loop_take_off(loop, exchange);
    if (is_refused && send_again(loop, exchange)) return;
    if (is_refused) exchange->verdict = YCURL_REFUSED;
    sockets_keep(exchange);
    // The handle may wait for a long time until its next request, so the file is closed now.
    if (exchange->body_file >= 0) exchange_close_file(exchange);
    if (exchange->place != ABANDONED) return loop_note_finished(loop, exchange, code);
    forget_abandoned(loop, exchange);
    ycurl_exchange_destroy(exchange);
}

void ycurl_loop_discard(ycurl_loop *loop, ycurl_exchange *exchange) {
    deadlines_set(loop, exchange, INT64_MAX);
    exchange->owner = NULL;
    if (exchange->place == RUNNING && exchange->connecting == NAME_LOOKED_UP) {
        loop_forget(loop, exchange);
        exchange->place = ABANDONED;
        sharing_end(exchange);
        // Without this, a later check could add the exchange to the finished list, whose link is used below.
        early_forget(loop, exchange);
        exchange->links[FINISHED].next = loop->abandoned;
        loop->abandoned = exchange;
        return;
    }
    if (exchange->place == RUNNING) {
        int deaf = deaf_note(loop, exchange);
        loop_take_off(loop, exchange);
        deaf_end_unused(loop, deaf);
    }
    sharing_end(exchange);
    loop_forget(loop, exchange);  // Last, because libcurl may have called back during the removal.
    ycurl_exchange_destroy(exchange);
}

void ycurl_loop_close_connections(ycurl_loop *loop) {
    if (loop->abandoned) return;
    close_multi(loop);
    if (!open_multi(loop)) loop->out_of_memory = true;
}

// MARK: Steps

static void run_timer(ycurl_loop *loop) {
    if (loop->timer > loop->now) return;
    int running;
    loop->timer = INT64_MAX;
    ycurl_lib.multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static bool is_connected(struct ycurl_exchange *exchange) {
    int64_t begun = 0;
    ycurl_lib.easy_getinfo(exchange->easy, CURLINFO_PRETRANSFER_TIME_T, &begun);
    return exchange->was_sent || begun > 0;
}

/// Returns whether an exchange still waits for a connection because other exchanges use all of them. libcurl has then
/// neither started nor found a connection for the exchange.
static bool is_queued(struct ycurl_exchange *exchange) {
    return exchange->connecting == UNCONNECTED && !is_connected(exchange);
}

/// Returns which deadline of an exchange has passed.
static enum ycurl_verdict judge_time(struct ycurl_exchange *exchange, int64_t now) {
    if (exchange->deadline <= now) return exchange->is_skipped ? YCURL_ANSWERED : YCURL_DEADLINE_PASSED;
    if (exchange->connect_deadline <= now) {
        if (!is_connected(exchange)) return YCURL_NOT_CONNECTED;
        exchange->connect_deadline = INT64_MAX;
    }
    // A pause is caused by the caller, and a queue by the caller's other exchanges. In both cases the server is not
    // silent.
    if (exchange->receive_paused || exchange->feed == FEED_AWAITED || is_queued(exchange)) exchange->last_activity = now;
    return deadlines_idle(exchange) <= now ? YCURL_IDLE_TOO_LONG : YCURL_NO_VERDICT;
}

/// Ends the exchanges whose deadline has passed, and schedules the next check of the others.
static void run_deadlines(ycurl_loop *loop) {
    // The number of iterations is limited, because libcurl may ask again and again to be called immediately.
    size_t looks = loop->heap_count + 16;
    while (looks-- > 0 && loop->heap_count && loop->heap[0]->due <= loop->now) {
        struct ycurl_exchange *exchange = loop->heap[0];
        if (exchange->connection && exchange->connection->timer <= loop->now) {
            connection_act(exchange, CURL_SOCKET_TIMEOUT, 0);
            continue;
        }
        exchange->verdict = judge_time(exchange, loop->now);
        if (exchange->verdict == YCURL_NO_VERDICT) deadlines_renew(loop, exchange);
        else loop_note_finished(loop, exchange, -1);
    }
}

void loop_collect(ycurl_loop *loop, void *multi) {
    int left;
    struct curl_message *message;
    while ((message = ycurl_lib.multi_info_read(multi, &left))) {
        if (message->kind != CURLMSG_DONE) continue;
        struct ycurl_exchange *exchange = NULL;
        int code = message->data.code;
        ycurl_lib.easy_getinfo(message->easy, CURLINFO_PRIVATE, &exchange);
        bool is_alone = exchange && exchange->connection;
        if (exchange) finish(loop, exchange, code);
        if (is_alone) return;  // The multi handle may be gone.
    }
}

static void collect_finished(ycurl_loop *loop) {
    loop_collect(loop, loop->multi);
    memory_trim(loop);
}

static int wait_time(const ycurl_loop *loop, int64_t wait_ms) {
    if (loop->lists[FINISHED].first || loop->lists[EVENTS].first || loop->doubt_count) return 0;
    int64_t next = earlier(earlier(loop->timer, loop->stall_end), loop->sharing_due);
    if (loop->heap_count && loop->heap[0]->due < next) next = loop->heap[0]->due;
    if (next == INT64_MAX) return wait_ms < 0 ? -1 : (int)(wait_ms < INT32_MAX ? wait_ms : INT32_MAX);
    int64_t wait = next <= loop->now ? 0 : (next - loop->now + 999999) / 1000000;
    if (wait_ms >= 0 && wait_ms < wait) wait = wait_ms;
    return (int)(wait < INT32_MAX ? wait : INT32_MAX);
}

void ycurl_loop_begin(ycurl_loop *loop) {
    loop->now = ycurl_now();
    memory_keep(loop);
}

void ycurl_loop_push(ycurl_loop *loop) {
    if (loop->timer <= loop->now) sockets_look_at_kept(loop);
    run_timer(loop);
    collect_finished(loop);
}

void ycurl_loop_will_wait(ycurl_loop *loop) { atomic_store(&loop->waits, POLLS); }

/// Returns whether the process was stopped during a wait. The thread blocks all signals, so only a stop interrupts a
/// wait.
static bool was_stopped(ycurl_loop *loop, int count, int wait_ms) {
    bool is_interrupted = count < 0;
    int64_t lateness = wait_ms < 0 ? 0 : ycurl_now() - loop->now - (int64_t)wait_ms * 1000000;
    if (!is_interrupted && lateness < LATENESS) return false;
    loop->stopped_since = loop->now;
    return true;
}

/// Extends the timeouts of an exchange by the time during which the process was stopped. The deadline of the whole
/// exchange is unchanged.
static void excuse(struct ycurl_exchange *exchange, int64_t now, int64_t pause) {
    exchange->last_activity = now;
    if (exchange->connect_deadline > INT64_MAX - pause) return;
    exchange->connect_deadline += pause;
    int64_t longer = exchange->configured.connect_timeout + pause / 1000000 + 1;
    exchange->configured.connect_timeout = longer < INT32_MAX ? (long)longer : INT32_MAX;
    ycurl_lib.easy_setopt(exchange->easy, CURLOPT_CONNECTTIMEOUT_MS, exchange->configured.connect_timeout);
}

int ycurl_loop_catch_up(ycurl_loop *loop) {
    enum { MOST = 128, MOST_LOOKS = 256 };
    struct epoll_event events[MOST];
    loop->now = ycurl_now();
    for (size_t i = 0; i < loop->heap_count; i++) excuse(loop->heap[i], loop->now, loop->now - loop->stopped_since);
    for (int looks = 0; looks < MOST_LOOKS; looks++) {
        int count = epoll_wait(loop->epoll, events, MOST, 0);
        if (count < 0 && errno != EINTR) return errno;
        if (count <= 0 && loop->timer > loop->now) break;
        for (int i = 0; i < count; i++) sockets_dispatch(loop, events[i].data.fd, events[i].events);
        run_timer(loop);
        collect_finished(loop);
    }
    if (loop->sharing_due <= loop->now) sharing_look(loop);
    if (loop->lists[AHEAD].first) early_look(loop, true, ycurl_loop_push);
    run_deadlines(loop);
    return 0;
}

int ycurl_loop_step(ycurl_loop *loop, int64_t wait_ms) {
    enum { MOST = 128, MOST_LOOKS = 4 };
    struct epoll_event events[MOST];
    if (loop->out_of_memory) return ENOMEM;
    if (loop->lists[AHEAD].first) early_look(loop, false, ycurl_loop_push);
    // The check may have consumed a wake event of the epoll set, which reports each event once. `waits` is WORKS then.
    int wait = atomic_load(&loop->waits) ? wait_time(loop, wait_ms) : 0;
    int count = loop_await(loop, events, MOST, wait);
    atomic_store(&loop->waits, WORKS);
    if (count < 0 && errno != EINTR) return errno;
    if (was_stopped(loop, count, wait)) return YCURL_WAS_STOPPED;
    bool moved = count > 0;
    for (int looks = 1;; looks++) {
        loop->now = ycurl_now();
        loop->gathers = false;
        for (int i = 0; i < count; i++) sockets_dispatch(loop, events[i].data.fd, events[i].events);
        if (!loop->gathers || looks == MOST_LOOKS) break;
        count = epoll_wait(loop->epoll, events, MOST, 0);
        if (count <= 0) break;
    }
    if (loop->stall_end <= loop->now) sockets_end_stalls(loop);
    run_timer(loop);
    collect_finished(loop);
    if (loop->sharing_due <= loop->now) sharing_look(loop);
    if (loop->lists[AHEAD].first) early_look(loop, moved, ycurl_loop_push);
    run_deadlines(loop);
    return 0;
}

void ycurl_loop_wake(ycurl_loop *loop) {
    if (atomic_exchange(&loop->waits, WORKS) != BLOCKS) return;
    uint64_t one = 1;
    while (write(loop->wake, &one, sizeof one) < 0 && errno == EINTR) {}
}

#endif
