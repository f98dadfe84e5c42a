/// A connection that libcurl opens and hands over (CURLOPT_CONNECT_ONLY), for a request that asks for another protocol.
///
/// libcurl performs the name lookup, connects through proxies, checks TLS and pins, and encrypts and decrypts the
/// bytes. This file sends the head of the request and reads the head of the response.
#if defined(__linux__)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "exchange.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

static int set_timer(void *multi, long wait_ms, void *context) {
    (void)multi;
    struct ycurl_exchange *exchange = context;
    ycurl_loop *loop = exchange->loop;
    exchange->connection->timer = wait_ms < 0 ? INT64_MAX : loop->now + (int64_t)wait_ms * 1000000;
    return deadlines_renew(loop, exchange) ? 0 : -1;
}

// MARK: Lifetime

int connection_prepare(struct ycurl_exchange *exchange, const struct ycurl_request *request) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) return CURLE_OUT_OF_MEMORY;
    connection->timer = INT64_MAX;
    connection->socket = -1;
    exchange->connection = connection;
    exchange->names.upgrade = true;
    if (!buffer_append(&connection->outgoing, request->opening, request->opening_count)) return CURLE_OUT_OF_MEMORY;
    int (*set)(void *, int, ...) = ycurl_lib.easy_setopt;
    int code = set(exchange->easy, CURLOPT_CONNECT_ONLY, 1L);
    code |= set(exchange->easy, CURLOPT_FRESH_CONNECT, 1L);
    // HTTP/2 has no such requests, and a proxy would treat the bytes of the other protocol as HTTP.
    code |= set(exchange->easy, YCURL_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    return code | set(exchange->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
}

static void *open_multi(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    void *multi = ycurl_lib.multi_init();
    if (!multi) return NULL;
    ycurl_lib.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, sockets_watch);
    ycurl_lib.multi_setopt(multi, CURLMOPT_SOCKETDATA, loop);
    ycurl_lib.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    ycurl_lib.multi_setopt(multi, CURLMOPT_TIMERDATA, exchange);
    return multi;
}

void *connection_multi(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    struct connection *connection = exchange->connection;
    if (!connection) return loop->multi;
    if (!connection->multi) connection->multi = open_multi(loop, exchange);
    return connection->multi;
}

void connection_free(struct ycurl_exchange *exchange) {
    struct connection *connection = exchange->connection;
    if (!connection) return;
    if (connection->multi) ycurl_lib.multi_cleanup(connection->multi);
    deadlines_set(exchange->loop, exchange, INT64_MAX);  // libcurl may have set its timer again.
    buffer_free(&connection->outgoing);
    buffer_free(&connection->line);
    free(connection);
    exchange->connection = NULL;
}

static void end(struct ycurl_exchange *exchange, int code) {
    struct connection *connection = exchange->connection;
    if (connection->has_ended) return;
    connection->has_ended = true;
    if (connection->socket >= 0) sockets_watch_own(exchange, 0);
    loop_note_finished(exchange->loop, exchange, code);
}

/// Ends an exchange whose response is complete.
static void end_well(struct ycurl_exchange *exchange) {
    exchange->verdict = YCURL_ANSWERED;
    end(exchange, -1);
}

// MARK: Sending

/// Sends as much as the socket accepts.
static void flush(struct ycurl_exchange *exchange) {
    struct connection *connection = exchange->connection;
    struct buffer *outgoing = &connection->outgoing;
    if (outgoing->count == 0 || connection->failure != CURLE_OK) return;
    connection->is_full = false;
    while (connection->sent < outgoing->count) {
        size_t sent = 0;
        const char *rest = outgoing->bytes + connection->sent;
        int code = ycurl_lib.easy_send(exchange->easy, rest, outgoing->count - connection->sent, &sent);
        if (code == CURLE_AGAIN) connection->is_full = true;
        else connection->failure = code;
        if (code != CURLE_OK) return;
        connection->sent += sent;
        exchange->last_activity = exchange->loop->now;
    }
    connection->sent = outgoing->count = 0;
    if (connection->is_awaited) loop_note(exchange->loop, exchange, YCURL_UPLOAD_HUNGRY);
    connection->is_awaited = false;
}

int ycurl_connection_send(ycurl_exchange *exchange, const void *bytes, size_t count) {
    struct connection *connection = exchange->connection;
    if (!connection || connection->socket < 0 || connection->outgoing.count > 0) return CURLE_BAD_FUNCTION_ARGUMENT;
    if (count == 0) loop_note(exchange->loop, exchange, YCURL_UPLOAD_HUNGRY);
    if (count == 0) return CURLE_OK;
    if (!buffer_append(&connection->outgoing, bytes, count)) return CURLE_OUT_OF_MEMORY;
    connection->is_awaited = true;
    connection_move(exchange);
    return CURLE_OK;
}

// MARK: Receiving

/// Handles the end of the head.
static void finish_head(struct ycurl_exchange *exchange) {
    if (head_status(&exchange->head) != 101) return end_well(exchange);
    // The deadlines of a request do not apply to the other protocol.
    exchange->deadline = exchange->connect_deadline = INT64_MAX;
    exchange->idle_limit = 0;
    deadlines_renew(exchange->loop, exchange);
}

/// Processes a line of the head, or a part of a line. Returns false if the line ends the exchange.
static bool take_line(struct ycurl_exchange *exchange, const char *bytes, size_t count) {
    struct buffer *line = &exchange->connection->line;
    if (line->count + count > exchange->head_limit) exchange->verdict = YCURL_HEAD_TOO_LARGE;
    else if (!buffer_append(line, bytes, count)) exchange->verdict = YCURL_NO_MEMORY;
    if (exchange->verdict != YCURL_NO_VERDICT) return false;
    static const char start[] = "HTTP/1.";
    size_t shown = line->count < sizeof start - 1 ? line->count : sizeof start - 1;
    bool is_first = exchange->head_phase == HEAD_AWAITED;
    if (is_first && memcmp(line->bytes, start, shown) != 0) return false;
    if (bytes[count - 1] != '\n') return true;
    size_t size = line->count;
    line->count = 0;
    return exchange_receive_head(line->bytes, 1, size, exchange) == size;
}

/// Processes bytes of the head, and returns the number of bytes that belong to it.
static size_t take_head(struct ycurl_exchange *exchange, const char *bytes, size_t count) {
    size_t taken = 0;
    while (taken < count && exchange->head_phase != HEAD_COMPLETE) {
        const char *newline = memchr(bytes + taken, '\n', count - taken);
        size_t size = newline ? (size_t)(newline - bytes) + 1 - taken : count - taken;
        if (!take_line(exchange, bytes + taken, size)) {
            bool is_ours = exchange->verdict != YCURL_NO_VERDICT;
            end(exchange, is_ours ? CURLE_WRITE_ERROR : CURLE_WEIRD_SERVER_REPLY);
            return count;
        }
        taken += size;
    }
    if (exchange->head_phase == HEAD_COMPLETE) finish_head(exchange);
    return taken;
}

static void take(struct ycurl_exchange *exchange, const char *bytes, size_t count) {
    exchange->last_activity = exchange->loop->now;
    if (exchange->head_phase != HEAD_COMPLETE) {
        size_t taken = take_head(exchange, bytes, count);
        bytes += taken;
        count -= taken;
    }
    if (count == 0 || exchange->connection->has_ended) return;
    if (!buffer_append(&exchange->received, bytes, count)) {
        exchange->verdict = YCURL_NO_MEMORY;
        return end(exchange, CURLE_WRITE_ERROR);
    }
    loop_note(exchange->loop, exchange, YCURL_BODY_ARRIVED);
}

/// Receives as many bytes as the caller has room for.
static void receive(struct ycurl_exchange *exchange) {
    char piece[RECEIVED_PIECE];
    while (!exchange->connection->has_ended) {
        exchange->receive_paused = exchange->received.count >= exchange->window;
        if (exchange->receive_paused) return;
        size_t count = 0;
        int code = ycurl_lib.easy_recv(exchange->easy, piece, sizeof piece, &count);
        if (code == CURLE_AGAIN) return;
        if (code != CURLE_OK) return end(exchange, code);
        if (count > 0) take(exchange, piece, count);
        else if (exchange->head_phase == HEAD_COMPLETE) end_well(exchange);
        else end(exchange, CURLE_GOT_NOTHING);
    }
}

// MARK: Steps

void connection_move(struct ycurl_exchange *exchange) {
    struct connection *connection = exchange->connection;
    if (connection->has_ended || connection->socket < 0) return;
    flush(exchange);
    receive(exchange);
    if (connection->has_ended) return;
    // All bytes that the server sent before it closed the connection have been read at this point.
    if (connection->failure != CURLE_OK) return end(exchange, connection->failure);
    uint32_t wanted = exchange->receive_paused ? 0 : EPOLLIN;
    sockets_watch_own(exchange, connection->is_full ? wanted | EPOLLOUT : wanted);
}

bool connection_begin(struct ycurl_exchange *exchange) {
    struct connection *connection = exchange->connection;
    bool is_wanted = exchange->was_sent || exchange->may_send(exchange->owner);
    if (!is_wanted) exchange->verdict = YCURL_WITHDRAWN;
    int socket = -1;
    ycurl_lib.easy_getinfo(exchange->easy, CURLINFO_ACTIVESOCKET, &socket);
    if (!is_wanted || socket < 0) return false;
    connection->socket = socket;
    connection->timer = INT64_MAX;
    exchange->was_sent = true;
    exchange->last_activity = exchange->loop->now;
    deadlines_renew(exchange->loop, exchange);
    connection_move(exchange);
    return true;
}

void connection_act(struct ycurl_exchange *exchange, int socket, int what) {
    struct connection *connection = exchange->connection;
    if (socket >= 0 && socket == connection->socket) return connection_move(exchange);
    int running;
    if (socket == CURL_SOCKET_TIMEOUT) connection->timer = INT64_MAX;
    if (socket == CURL_SOCKET_TIMEOUT) deadlines_renew(exchange->loop, exchange);
    ycurl_lib.multi_socket_action(connection->multi, socket, what, &running);
    loop_collect(exchange->loop, connection->multi);
}

#endif
