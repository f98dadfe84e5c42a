/// The sockets of a loop, and the epoll set that watches them for libcurl.
#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/// The number of consecutive times that a socket was writable with nothing to send. After that, the socket is not
/// watched for writing for a short time (a stall).
#define MOST_FRUITLESS 8
/// The duration of a stall in nanoseconds.
#define STALL 5000000
/// The maximum time in nanoseconds for which a connection may have been idle to be used for a request that is sent only
/// once.
#define MOST_IDLE 1000000000

static struct watched_socket *watched(ycurl_loop *loop, int socket) {
    if (socket < 0) return NULL;
    if ((size_t)socket >= loop->socket_count) {
        size_t count = (size_t)socket + 64;
        struct watched_socket *sockets = realloc(loop->sockets, count * sizeof *sockets);
        if (!sockets) return NULL;
        for (size_t i = loop->socket_count; i < count; i++) sockets[i] = (struct watched_socket){0};
        loop->sockets = sockets;
        loop->socket_count = count;
    }
    return &loop->sockets[socket];
}

int sockets_control(ycurl_loop *loop, int operation, int socket, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = socket};
    return epoll_ctl(loop->epoll, operation, socket, &event);
}

/// Updates the epoll set to the events that a socket needs.
static bool apply(ycurl_loop *loop, int socket, struct watched_socket *entry) {
    uint32_t before = entry->registered, wanted = entry->wanted;
    if (entry->is_stalled) wanted &= ~(uint32_t)EPOLLOUT;
    if (before == wanted) return true;
    entry->registered = wanted;
    if (!wanted) {
        sockets_control(loop, EPOLL_CTL_DEL, socket, 0);
        return true;
    }
    if (sockets_control(loop, before ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, wanted) == 0) return true;
    // The epoll set may differ from our records: a socket may have been closed without our callbacks, and its number
    // reused.
    int other = errno == ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (sockets_control(loop, other, socket, wanted) == 0) return true;
    entry->registered = 0;
    return false;
}

static void set_kept(ycurl_loop *loop, struct watched_socket *entry, bool is_kept) {
    if (entry->is_kept == is_kept) return;
    entry->is_kept = is_kept;
    loop->kept_count += is_kept ? 1 : (size_t)-1;
}

/// Records which socket an exchange uses. If the exchange has a multi handle of its own, records the exchange with the
/// socket too.
static void note_user(ycurl_loop *loop, void *easy, int socket, struct watched_socket *entry) {
    struct ycurl_exchange *exchange = NULL;
    ycurl_lib.easy_getinfo(easy, CURLINFO_PRIVATE, &exchange);
    if (exchange && exchange->loop == loop) exchange->socket = socket;
    entry->exchange = exchange && exchange->connection ? exchange : NULL;
}

int sockets_watch(void *easy, int socket, int what, void *context, void *unused) {
    (void)unused;
    ycurl_loop *loop = context;
    if (loop->fed_count) early_note_watching(easy, what);
    struct watched_socket *entry = watched(loop, socket);
    if (!entry) return -1;
    entry->wanted = 0;
    entry->paused = NULL;
    note_user(loop, easy, socket, entry);
    if (what == CURL_POLL_REMOVE) entry->exchange = NULL;
    set_kept(loop, entry, false);
    if (what != CURL_POLL_REMOVE) {
        if (what & CURL_POLL_IN) entry->wanted |= EPOLLIN;
        if (what & CURL_POLL_OUT) entry->wanted |= EPOLLOUT;
    }
    // A reused connection is needed again soon. Leaving it registered saves two system calls per request. If it becomes
    // readable before that, sockets_dispatch() ends it or removes it from the set.
    if (!entry->wanted && entry->ours && entry->registered == EPOLLIN) return 0;
    return apply(loop, socket, entry) ? 0 : -1;
}

int loop_open_socket(void *context, int purpose, struct curl_sockaddr *address) {
    (void)purpose;
    ycurl_loop *loop = context;
    int opened = socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
    struct watched_socket *entry = watched(loop, opened);
    if (!entry) return opened;
    // The socket is new, so an earlier registration of the same number is no longer in the epoll set.
    entry->ours = true;
    entry->registered = 0;
    apply(loop, opened, entry);
    return opened;
}

int loop_close_socket(void *context, int socket) {
    struct watched_socket *entry = watched(context, socket);
    // Closing a socket removes it from the epoll set only if no copy of the descriptor exists. A forked process has
    // copies of all sockets, and then the socket could not be removed after it is closed.
    if (entry && entry->registered) sockets_control(context, EPOLL_CTL_DEL, socket, 0);
    if (entry) set_kept(context, entry, false);
    if (entry) deaf_forget(context, entry);
    if (entry) *entry = (struct watched_socket){0};
    return close(socket);
}

void sockets_watch_own(struct ycurl_exchange *exchange, uint32_t wanted) {
    struct watched_socket *entry = watched(exchange->loop, exchange->connection->socket);
    if (!entry) return;
    entry->exchange = exchange;
    entry->wanted = wanted;
    apply(exchange->loop, exchange->connection->socket, entry);
}

// MARK: Idle connections

/// Makes an idle connection look closed to libcurl. Otherwise libcurl would treat unsolicited data from a server as its
/// next response (RFC 9112 section 9.2). libcurl 7.88 does not check for such data, and newer versions do not check
/// with TLS.
///
/// The socket is replaced by another socket that is shut down. When libcurl next uses the connection, it finds it closed
/// and closes it. The data that waited on the old socket is gone. TLS 1.3 session tickets are not lost, because they
/// arrive before the first response is read.
///
/// Closing the other end of the new socket is not enough. A child process that is being started briefly has a copy of
/// every descriptor, and the connection would look open for that time.
void sockets_end(ycurl_loop *loop, int socket, struct watched_socket *entry) {
    set_kept(loop, entry, false);
    deaf_forget(loop, entry);
    if (entry->registered) sockets_control(loop, EPOLL_CTL_DEL, socket, 0);
    entry->registered = 0;
    int ends[2];
    bool has_pair = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    if (has_pair) shutdown(ends[0], SHUT_RDWR);
    bool is_replaced = has_pair && dup3(ends[0], socket, O_CLOEXEC) == socket;
    for (int i = 0; has_pair && i < 2; i++) close(ends[i]);
    // This is the fallback if no descriptors are left for another socket.
    if (!is_replaced) shutdown(socket, SHUT_RDWR);
}

void sockets_keep(struct ycurl_exchange *exchange) {
    struct watched_socket *entry = watched(exchange->loop, exchange->socket);
    // Over HTTP/2 and 3, a server may send at any time. libcurl reads such a connection before it reuses it.
    bool may_be_kept = entry && entry->ours && !entry->wanted && !exchange->is_multiplexed;
    // libcurl may end an exchange, and start and pause the next one on its connection, in one call. The connection is
    // then in use although libcurl waits for no event.
    if (may_be_kept && entry->paused && entry->paused != exchange) may_be_kept = false;
    if (may_be_kept) {
        entry->paused = NULL;
        set_kept(exchange->loop, entry, true);
        // The socket is watched for data from the server. It is usually still registered, except if libcurl was only
        // sending at the end, or if the server has sent data since then.
        entry->wanted = EPOLLIN;
        bool is_heard = apply(exchange->loop, exchange->socket, entry);
        entry->wanted = 0;
        if (!is_heard) sockets_end(exchange->loop, exchange->socket, entry);
        entry->kept_since = exchange->loop->now;
        entry->origin = exchange->origin;
    }
    exchange->socket = -1;
}

/// libcurl reports the socket of a reused connection only when it waits for the socket. If the response arrives in the
/// call that sends the request, and fills the window, the exchange is paused before libcurl has waited. Without this
/// call, the connection would still count as idle, and the rest of the response as unsolicited data.
void sockets_note_pause(struct ycurl_exchange *exchange) {
    if (exchange->socket >= 0 || exchange->is_multiplexed) return;
    int socket = socket_of(exchange);
    struct watched_socket *entry = watched(exchange->loop, socket);
    if (!entry) return;
    exchange->socket = socket;
    entry->paused = exchange;
    set_kept(exchange->loop, entry, false);
}

void sockets_look_at_kept(ycurl_loop *loop) {
    enum { MOST = 128 };
    struct epoll_event events[MOST];
    if (!loop->kept_count) return;
    // Only the events of idle connections are handled here. The next `ycurl_loop_step` gets the events of all other
    // sockets again, because they are level-triggered. It does not get the event of `loop->wake` again, which is
    // edge-triggered, but `ycurl_loop_wake` has also set `loop->waits`, so the step does not block.
    int count = epoll_wait(loop->epoll, events, MOST, 0);
    for (int i = 0; i < count; i++) {
        struct watched_socket *entry = watched(loop, events[i].data.fd);
        if (entry && entry->is_kept) sockets_end(loop, events[i].data.fd, entry);
    }
}

/// Ends idle connections that a server may be closing. If a request is sent at that moment, it is unknown whether the
/// server has executed it. Common idle timeouts are 2 s (gunicorn), 5 s (Apache, Node, uvicorn) and more, and few
/// servers announce their timeout.
void sockets_end_idle(struct ycurl_exchange *exchange) {
    ycurl_loop *loop = exchange->loop;
    for (size_t i = 0; i < loop->socket_count; i++) {
        struct watched_socket *entry = &loop->sockets[i];
        bool is_idle = entry->is_kept && entry->origin == exchange->origin;
        if (is_idle && loop->now - entry->kept_since >= MOST_IDLE) sockets_end(loop, (int)i, entry);
    }
}

// MARK: Stalls

/// Records that a socket was writable but nothing was sent. libcurl (seen with 7.88) watches for writability although
/// an HTTP/2 server's window is closed. The socket is then always writable, which would keep a core busy until the
/// window opens. The server's window update must be read first, so the socket is watched only for reading. From time to
/// time it is watched for writing again, in case there was another reason.
static void note_fruitless(ycurl_loop *loop, int socket) {
    struct watched_socket *entry = watched(loop, socket);
    if (!entry || !(entry->wanted & EPOLLOUT)) return;
    if (entry->reads_before != loop->body_reads) entry->fruitless = 0;
    entry->reads_before = loop->body_reads;
    if (++entry->fruitless < MOST_FRUITLESS) return;
    entry->fruitless = MOST_FRUITLESS - 1;
    entry->is_stalled = true;
    apply(loop, socket, entry);
    if (loop->stall_end == INT64_MAX) loop->stall_end = loop->now + STALL;
}

static void end_stall(ycurl_loop *loop, int socket, struct watched_socket *entry) {
    entry->is_stalled = false;
    apply(loop, socket, entry);
}

void sockets_end_stalls(ycurl_loop *loop) {
    loop->stall_end = INT64_MAX;
    for (size_t i = 0; i < loop->socket_count; i++) {
        struct watched_socket *entry = &loop->sockets[i];
        // If the socket is again writable while there is nothing to send, the next stall begins.
        if (entry->is_stalled) end_stall(loop, (int)i, entry);
    }
}

void sockets_dispatch(ycurl_loop *loop, int socket, uint32_t events) {
    if (socket == loop->wake) return;
    struct watched_socket *entry = watched(loop, socket);
    if (entry && entry->is_kept) return sockets_end(loop, socket, entry);
    if (!entry || !entry->wanted) {
        if (entry) entry->registered = 0;
        sockets_control(loop, EPOLL_CTL_DEL, socket, 0);
        return;
    }
    uint32_t trouble = events & (EPOLLERR | EPOLLHUP);
    if (events & EPOLLIN && !trouble) {
        entry->heard = loop->now;
        if (entry->is_deaf) deaf_forget(loop, entry);
    }
    bool only_takes = events == EPOLLOUT;
    if (!only_takes) entry->fruitless = 0;
    if (!only_takes && entry->is_stalled) end_stall(loop, socket, entry);
    int what = 0;
    if (events & EPOLLIN || trouble) what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT || (trouble && (entry->wanted & EPOLLOUT))) what |= CURL_CSELECT_OUT;
    int running;
    if (entry->exchange) return connection_act(entry->exchange, socket, what);
    ycurl_lib.multi_socket_action(loop->multi, socket, what, &running);
    if (only_takes) note_fruitless(loop, socket);
}

#endif
