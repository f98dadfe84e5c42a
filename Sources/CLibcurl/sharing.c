/// Requests that wait for a connection that another request opens to the same server, to share it over HTTP/2.
///
/// libcurl decides whether a request uses an existing connection. Whether the server accepts HTTP/2 is known when the
/// TLS handshake has ended. Until then, a request for which libcurl would open another connection is parked: the attempt
/// is ended before anything is sent, and the request is started again when the first connection is ready. libcurl has a
/// similar option (CURLOPT_PIPEWAIT), but that has no time limit, opens connections one after the other if one fails, and
/// does not apply to further connections of a server (7.88).
///
/// A connection that fails or is never established must not cost other requests more than a short delay:
/// - A request waits for a limited time, and then opens a connection of its own.
/// - If the connection fails, the requests that wait for it open connections of their own, all at the same time.
/// - A request that is still opening its own connection moves to another one that is ready for HTTP/2.
/// - Requests to a server that has chosen HTTP/1.1 in a handshake, or has responded over it, do not wait.
/// - Requests whose body is fed do not wait.
#if defined(__linux__)

#include "exchange.h"

#include <stdlib.h>

/// The maximum wait in nanoseconds; Chromium delays further connections to an HTTP/2 server by the same time.
#define MOST_WAIT 300000000
/// A request waits for at most this share of the time that is left until its earliest deadline.
#define WAIT_SHARE 4
/// The minimum time in nanoseconds between two checks of all waits.
#define CHECK_INTERVAL 5000000

// MARK: Servers

/// The servers that have chosen HTTP/1.1, by the hash of their origin. A collision replaces an entry, which
/// only costs another wait.
struct ycurl_servers {
    _Atomic uint64_t entries[256];
};

ycurl_servers *ycurl_servers_create(void) { return calloc(1, sizeof(ycurl_servers)); }

void ycurl_servers_destroy(ycurl_servers *servers) { free(servers); }

static _Atomic uint64_t *entry_of(const struct ycurl_exchange *exchange) {
    ycurl_servers *servers = exchange->loop->servers;
    size_t count = sizeof servers->entries / sizeof servers->entries[0];
    return servers ? &servers->entries[exchange->origin % count] : NULL;
}

static bool is_http1_only(const struct ycurl_exchange *exchange) {
    _Atomic uint64_t *entry = entry_of(exchange);
    return entry && atomic_load_explicit(entry, memory_order_relaxed) == exchange->origin;
}

void sharing_note_version(struct ycurl_exchange *exchange, bool is_http1) {
    if (exchange->connection || is_http1_only(exchange) == is_http1) return;
    _Atomic uint64_t *entry = entry_of(exchange);
    if (entry) atomic_store_explicit(entry, is_http1 ? exchange->origin : 0, memory_order_relaxed);
}

// MARK: Lists

static void append(struct sharing_list *list, struct ycurl_exchange *exchange) {
    if (!list->end) list->end = &list->first;
    exchange->sharing.next = NULL;
    exchange->sharing.link = list->end;
    *list->end = exchange;
    list->end = &exchange->sharing.next;
}

static void unlink_from(struct sharing_list *list, struct ycurl_exchange *exchange) {
    struct sharing *sharing = &exchange->sharing;
    *sharing->link = sharing->next;
    if (sharing->next) sharing->next->sharing.link = sharing->link;
    else list->end = sharing->link;
    sharing->link = NULL;
}

static bool has_opener(const struct ycurl_exchange *exchange) {
    const struct ycurl_exchange *opener = exchange->loop->openers.first;
    while (opener && opener->origin != exchange->origin) opener = opener->sharing.next;
    return opener != NULL;
}

static void look_at(ycurl_loop *loop, int64_t time) { loop->sharing_due = earlier(loop->sharing_due, time); }

// MARK: The end of a wait

/// Restarts the requests that wait for the connection that `opener` opens.
static void release(const struct ycurl_exchange *opener, bool to_open) {
    for (struct ycurl_exchange *next = opener->loop->parked.first; next; next = next->sharing.next) {
        if (next->origin != opener->origin) continue;
        next->sharing.is_released = true;
        if (to_open) next->sharing.opens_own = true;
        look_at(opener->loop, 0);
    }
}

/// Marks the requests that are still opening connections of their own, so that they move to the connection of `opener`,
/// which is ready for HTTP/2.
static void attract(const struct ycurl_exchange *opener) {
    for (struct ycurl_exchange *next = opener->loop->openers.first; next; next = next->sharing.next)
        if (next != opener && next->origin == opener->origin && next->sharing.state == OPENING) next->sharing.moves = true;
}

/// Handles the end of an attempt to open a connection. The connection is ready if the request was sent on it.
static void settle(struct ycurl_exchange *exchange, bool has_failed) {
    bool is_ready = exchange->sharing.state == OPENED;
    // libcurl names the stream of a request over HTTP/2 when it sends the request.
    bool is_http2 = exchange->refusal.stream || exchange->is_multiplexed;
    unlink_from(&exchange->loop->openers, exchange);
    exchange->sharing.state = UNDECIDED;
    release(exchange, is_ready ? !is_http2 : has_failed);
    if (!is_ready) return;
    if (is_http2) attract(exchange);
    else sharing_note_version(exchange, true);
}

void sharing_note_sent(struct ycurl_exchange *exchange) {
    if (exchange->sharing.state != OPENING) return;
    exchange->sharing.state = OPENED;
    look_at(exchange->loop, 0);
}

void sharing_note_failure(struct ycurl_exchange *exchange) {
    if (exchange->sharing.state == OPENING) settle(exchange, true);
}

void sharing_end(struct ycurl_exchange *exchange) {
    if (!exchange->sharing.link) return;
    if (exchange->sharing.state == PARKED) unlink_from(&exchange->loop->parked, exchange);
    else settle(exchange, false);
}

// MARK: The start of a wait

/// Returns whether a request can wait without a disadvantage.
///
/// Before 7.80, libcurl does not report the end of the handshake, so a wait would last until the response. A body that
/// is fed cannot be read again: if the server allows fewer streams than libcurl assumes before it knows the server's
/// settings, it refuses some of the requests that waited, and these could not be sent again.
static bool can_wait(const struct ycurl_exchange *exchange) {
    return ycurl_version() >= 0x075000 && exchange->body != YCURL_BODY_FED;
}

void sharing_begin(struct ycurl_exchange *exchange) {
    exchange->sharing.state = UNDECIDED;
    exchange->sharing.waits = can_wait(exchange) && !exchange->connection &&
                              !exchange->configured.fresh && !is_http1_only(exchange);
}

bool sharing_may_connect(struct ycurl_exchange *exchange) {
    struct sharing *sharing = &exchange->sharing;
    bool is_decided = sharing->state == OPENING || sharing->state == OPENED;
    if (!sharing->waits || is_decided || exchange->was_sent || exchange->refusal.count) return true;
    if (sharing->state == UNDECIDED && (sharing->opens_own || !has_opener(exchange))) {
        sharing->state = OPENING;
        append(&exchange->loop->openers, exchange);
        return true;
    }
    sharing->state = PARKED;
    return false;
}

/// Returns the time until which an exchange waits.
static int64_t end_of_wait(const struct ycurl_exchange *exchange) {
    int64_t now = exchange->loop->now;
    int64_t end = earlier(earlier(exchange->connect_deadline, exchange->deadline), deadlines_idle(exchange));
    int64_t wait = earlier(MOST_WAIT, (end - now) / WAIT_SHARE);
    return now + (wait > 0 ? wait : 0);
}

bool sharing_park(struct ycurl_exchange *exchange) {
    struct sharing *sharing = &exchange->sharing;
    bool is_ended = exchange->verdict != YCURL_NO_VERDICT || exchange->links[FINISHED].is_listed;
    if (sharing->state != PARKED || exchange->place != RUNNING || is_ended) return false;
    loop_take_off(exchange->loop, exchange);
    exchange->words[0] = 0;
    // Several waits of a request together have one limit.
    if (!sharing->limit) sharing->limit = end_of_wait(exchange);
    sharing->is_released = !has_opener(exchange);
    append(&exchange->loop->parked, exchange);
    look_at(exchange->loop, sharing->is_released ? 0 : sharing->limit);
    return true;
}

// MARK: Checks

static void start(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    exchange->connecting = UNCONNECTED;
    exchange->sharing.moves = exchange->sharing.is_released = false;
    if (ycurl_loop_add(loop, exchange) != 0) loop_note_finished(loop, exchange, CURLE_OUT_OF_MEMORY);
}

/// Moves an exchange whose connection is still being opened to a connection that is ready.
static void move(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    exchange->sharing.moves = false;
    bool is_opening = exchange->sharing.state == OPENING && exchange->connecting == SOCKET_OPENED;
    if (!is_opening || exchange->place != RUNNING || exchange->links[FINISHED].is_listed) return;
    loop_take_off(loop, exchange);
    start(loop, exchange);
}

static void look_at_openers(ycurl_loop *loop) {
    for (struct ycurl_exchange *exchange = loop->openers.first, *next; exchange; exchange = next) {
        next = exchange->sharing.next;
        if (exchange->sharing.state == OPENED) settle(exchange, false);
    }
    for (struct ycurl_exchange *exchange = loop->openers.first, *next; exchange; exchange = next) {
        next = exchange->sharing.next;
        if (exchange->sharing.moves) move(loop, exchange);
    }
}

static void look_at_parked(ycurl_loop *loop) {
    int64_t soonest = loop->now + CHECK_INTERVAL;
    for (struct ycurl_exchange *exchange = loop->parked.first, *next; exchange; exchange = next) {
        next = exchange->sharing.next;
        bool is_late = exchange->sharing.limit <= loop->now;
        if (is_late) exchange->sharing.opens_own = true;
        if (is_late || exchange->sharing.is_released) {
            unlink_from(&loop->parked, exchange);
            start(loop, exchange);
        } else look_at(loop, exchange->sharing.limit < soonest ? soonest : exchange->sharing.limit);
    }
}

void sharing_look(ycurl_loop *loop) {
    loop->sharing_due = INT64_MAX;
    look_at_openers(loop);
    look_at_parked(loop);
}

#endif
