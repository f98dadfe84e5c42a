/// Connections that are open but unresponsive ("deaf"), because the network path is gone without an error.
///
/// Over HTTP/1.1, the connection of a request is closed when the request is given up. Over HTTP/2, the connection stays
/// open, and the next request would use it too. libcurl (7.88) sends a PING only for an easy handle of its own, and
/// does not report the response. Therefore a connection gets no new requests after a request on it was given up in
/// silence, until bytes arrive on the connection. The connection is closed as soon as no exchange uses it.
#if defined(__linux__)

#include "exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/// The time in nanoseconds for which a connection must have been silent when a request is cancelled. If the user
/// cancels earlier, the silence proves nothing.
#define LEAST_SILENCE 500000000

static int port_of(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) return ntohs(((const struct sockaddr_in *)address)->sin_port);
    if (address->ss_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    return 0;
}

/// Reads the ports of a connected socket, once.
static void read_ports(int socket, struct watched_socket *entry) {
    struct sockaddr_storage local, remote;
    socklen_t local_size = sizeof local, remote_size = sizeof remote;
    if (getpeername(socket, (struct sockaddr *)&remote, &remote_size) != 0) return;
    if (getsockname(socket, (struct sockaddr *)&local, &local_size) != 0) return;
    entry->local_port = port_of(&local);
    entry->remote_port = port_of(&remote);
}

static bool is_on(const struct ycurl_exchange *exchange, int socket) {
    struct watched_socket *entry = &exchange->loop->sockets[socket];
    if (entry->ours && !entry->local_port) read_ports(socket, entry);
    return entry->ours && entry->local_port == exchange->local_port && entry->remote_port == exchange->remote_port;
}

/// libcurl reports the socket of a connection to the first exchange on it, but not to later exchanges.
int socket_of(const struct ycurl_exchange *exchange) {
    const ycurl_loop *loop = exchange->loop;
    if (!exchange->local_port) return -1;
    for (size_t i = 0; i < loop->socket_count; i++)
        if (is_on(exchange, (int)i)) return (int)i;
    return -1;
}

static int64_t later(int64_t one, int64_t other) { return one > other ? one : other; }

/// Returns whether a connection has been silent for LEAST_SILENCE, or for as long as the request's timeout.
static bool is_deaf(const struct ycurl_exchange *exchange, struct watched_socket *entry) {
    bool has_timed_out = exchange->verdict == YCURL_DEADLINE_PASSED || exchange->verdict == YCURL_IDLE_TOO_LONG;
    bool has_bytes = exchange->head_total > 0;
    // A request whose response has started may be given up for any reason.
    if (has_bytes && !has_timed_out) return false;
    // The silence begins with the first request that was given up since the last bytes arrived.
    if (entry->silent_since <= entry->heard) entry->silent_since = later(exchange->last_activity, entry->heard);
    if (ycurl_now() - entry->silent_since >= LEAST_SILENCE) return true;
    return has_timed_out && !has_bytes && entry->heard <= exchange->last_activity;
}

int deaf_note(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    bool may_tell = exchange->was_sent && exchange->may_be_multiplexed && exchange->feed != FEED_AWAITED &&
                    !exchange->receive_paused;
    int socket = may_tell ? socket_of(exchange) : -1;
    if (socket < 0 || !is_deaf(exchange, &loop->sockets[socket])) return -1;
    struct watched_socket *entry = &loop->sockets[socket];
    loop->deaf_count += entry->is_deaf ? 0 : 1;
    entry->is_deaf = true;
    entry->origin = exchange->origin;
    return socket;
}

void deaf_forget(ycurl_loop *loop, struct watched_socket *entry) {
    loop->deaf_count -= entry->is_deaf ? 1 : 0;
    entry->is_deaf = false;
}

void deaf_note_received(struct ycurl_exchange *exchange) {
    ycurl_loop *loop = exchange->loop;
    if (!exchange->local_port) return;
    int socket = exchange->heard_on;
    if (socket < 0 || !is_on(exchange, socket)) socket = exchange->heard_on = socket_of(exchange);
    if (socket < 0) return;
    struct watched_socket *entry = &loop->sockets[socket];
    entry->heard = loop->now;
    entry->has_responded = true;
    if (entry->is_deaf) deaf_forget(loop, entry);
}

void deaf_end_unused(ycurl_loop *loop, int socket) {
    if (socket < 0 || (size_t)socket >= loop->socket_count) return;
    struct watched_socket *entry = &loop->sockets[socket];
    if (entry->is_deaf && !entry->wanted) sockets_end(loop, socket, entry);
}

bool deaf_remains(ycurl_loop *loop, const struct ycurl_exchange *exchange) {
    bool remains = false;
    for (size_t i = 0; i < loop->socket_count && loop->deaf_count; i++) {
        struct watched_socket *entry = &loop->sockets[i];
        if (!entry->is_deaf || entry->origin != exchange->origin) continue;
        deaf_end_unused(loop, (int)i);
        remains = remains || entry->is_deaf;
    }
    return remains;
}

#endif
