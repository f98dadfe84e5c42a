/// The callbacks that libcurl calls during a transfer, all on the loop's thread.
#if defined(__linux__)

#include "exchange.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The maximum number of bytes that are decoded before a slow reader has taken the earlier ones. A single input piece
/// of 16 KiB can expand to this size.
#define MOST_DECODED_AHEAD ((size_t)64 << 20)

/// Reserves memory for the announced length of the response, up to a limit, so that a growing body is not moved.
static bool reserve_announced(struct ycurl_exchange *exchange, size_t count) {
    enum { MOST = 16 << 20 };
    if (exchange->streaming && count >= STREAMED_PIECE / 8) return buffer_reserve(&exchange->received, STREAMED_PIECE);
    if (exchange->streaming) return buffer_reserve(&exchange->received, count);
    int64_t announced = exchange->announced_length;
    if (announced > MOST) announced = MOST;
    if (exchange->received_limit >= 0 && announced > exchange->received_limit) announced = exchange->received_limit;
    return buffer_reserve(&exchange->received, announced > (int64_t)count ? (size_t)announced : count);
}

/// Appends a decoded piece to the body that the caller will take.
static bool keep_body(struct ycurl_exchange *exchange, const char *bytes, size_t count) {
    bool is_full = exchange->streaming && exchange->received.count >= exchange->window;
    exchange->received_total += (int64_t)count;
    bool is_above_limit = exchange->received_limit >= 0 && exchange->received_total > exchange->received_limit;
    if (is_above_limit || (is_full && exchange->received.count > MOST_DECODED_AHEAD))
        return stop(exchange, YCURL_BODY_TOO_LARGE, false);
    if (exchange->received.capacity == 0 && !reserve_announced(exchange, count))
        return stop(exchange, YCURL_NO_MEMORY, false);
    if (!buffer_append(&exchange->received, bytes, count)) return stop(exchange, YCURL_NO_MEMORY, false);
    if (exchange->streaming) {
        size_t most = exchange->window / 2 < STREAMED_BATCH ? exchange->window / 2 : STREAMED_BATCH;
        exchange->loop->gathers = exchange->received.count >= STREAMED_PIECE / 2 && exchange->received.count < most;
    }
    return true;
}

static size_t receive_body(const char *bytes, size_t size, size_t count, void *context) {
    struct ycurl_exchange *exchange = context;
    count *= size;
    exchange->last_activity = exchange->loop->now;
    if (exchange->may_be_multiplexed) deaf_note_received(exchange);
    if (exchange->place == ABANDONED) return 0;
    if (exchange->is_skipped) return exchange_skip_piece(exchange, count);
    if (exchange->streaming) {
        loop_note(exchange->loop, exchange, YCURL_BODY_ARRIVED);
        // If libcurl decodes the body, a pause does not stop its decoder. The decoder would buffer its output without a
        // limit. Therefore the output is taken here, up to a limit. The caller pauses the transfer when the input piece
        // is decoded.
        if (exchange->received.count >= exchange->window && !exchange->encoded) {
            exchange->receive_paused = true;
            sockets_note_pause(exchange);
            return CURL_WRITEFUNC_PAUSE;
        }
    }
    bool taken = exchange->gunzip ? gunzip_decode(exchange, bytes, count, keep_body) : keep_body(exchange, bytes, count);
    return taken ? count : 0;
}

// MARK: The request's body

/// Returns whether the file of the body is unchanged since it was opened.
static bool is_unchanged(const struct ycurl_exchange *exchange) {
    const struct timespec *before = &exchange->body_file_time;
    struct stat now;
    return fstat(exchange->body_file, &now) == 0 && now.st_size == exchange->body_file_length &&
           now.st_mtim.tv_sec == before->tv_sec && now.st_mtim.tv_nsec == before->tv_nsec;
}

static size_t read_file(struct ycurl_exchange *exchange, char *place, size_t room, int64_t position) {
    int64_t left = exchange->body_file_length - position;
    if ((int64_t)room > left) room = (size_t)left;
    ssize_t count;
    do count = pread(exchange->body_file, place, room, position);
    while (count < 0 && errno == EINTR);
    if (count < 0) exchange->os_error = errno;
    if (count < 0) return stop(exchange, YCURL_UPLOAD_UNREADABLE, CURL_READFUNC_ABORT);
    if (count == 0) return stop(exchange, YCURL_UPLOAD_SHORT, CURL_READFUNC_ABORT);
    // The last bytes are sent only if the whole body comes from one unchanged file. If the file has changed, the server
    // must not receive a body that looks complete.
    bool ends = position + count >= exchange->body_file_length;
    if (ends && !is_unchanged(exchange)) return stop(exchange, YCURL_UPLOAD_CHANGED, CURL_READFUNC_ABORT);
    return (size_t)count;
}

/// Reads the next bytes of the body: from the bytes before the file, from the file, or from the bytes after the file.
static size_t read_enclosed(struct ycurl_exchange *exchange, char *place, size_t room) {
    int64_t before = (int64_t)exchange->body_before, position = exchange->body_position;
    if (position >= before && position - before < exchange->body_file_length)
        return read_file(exchange, place, room, position - before);
    int64_t start = position < before ? position : position - exchange->body_file_length;
    int64_t left = (position < before ? before : (int64_t)exchange->body_copy.count) - start;
    if ((int64_t)room > left) room = (size_t)left;
    memcpy(place, exchange->body_copy.bytes + start, room);
    return room;
}

static size_t read_fed(struct ycurl_exchange *exchange, char *place, size_t room) {
    size_t left = exchange->body_copy.count - (size_t)exchange->body_position;
    if (left == 0 && exchange->feed == FEED_ENDED) return 0;
    if (left <= room) loop_note(exchange->loop, exchange, YCURL_UPLOAD_HUNGRY);
    if (left == 0) {
        exchange->feed = FEED_AWAITED;
        return CURL_READFUNC_PAUSE;
    }
    size_t count = left < room ? left : room;
    memcpy(place, exchange->body_copy.bytes + exchange->body_position, count);
    exchange->body_position += (int64_t)count;
    exchange->fed_taken = true;
    return count;
}

static size_t read_body(struct ycurl_exchange *exchange, char *place, size_t room) {
    if (exchange->body == YCURL_BODY_FED) return read_fed(exchange, place, room);
    int64_t left = exchange->body_length - exchange->body_position;
    if (left <= 0) return 0;
    if ((int64_t)room > left) room = (size_t)left;
    size_t count = room;
    if (exchange->body == YCURL_BODY_FILE) count = read_enclosed(exchange, place, room);
    else memcpy(place, exchange->body_bytes + exchange->body_position, room);
    if (count <= room) exchange->body_position += (int64_t)count;
    return count;
}

static size_t send_body(char *place, size_t size, size_t count, void *context) {
    struct ycurl_exchange *exchange = context;
    exchange->last_activity = exchange->loop->now;
    exchange->loop->body_reads++;
    count = read_body(exchange, place, size * count);
    // These may have been the last bytes of the body. After the end of the body, the response must be checked.
    if (exchange->head_phase == HEAD_COMPLETE && count != CURL_READFUNC_PAUSE) early_note_doubt(exchange->loop, exchange);
    return count;
}

/// Rewinds the body to its start, because an idle connection was dead and the request is sent again.
static int rewind_body(void *context, int64_t offset, int origin) {
    struct ycurl_exchange *exchange = context;
    bool can = exchange->body == YCURL_BODY_BORROWED || exchange->body == YCURL_BODY_FILE;
    if (!can || origin != SEEK_SET || offset < 0 || offset > exchange->body_length) return CURL_SEEKFUNC_FAIL;
    exchange->body_position = offset;
    return CURL_SEEKFUNC_OK;
}

// MARK: The connection

/// Returns whether a request may be sent again although the head of a response has arrived.
///
/// This is the case after a 417 to a request with an expectation that has not sent its body. libcurl sends the request
/// again without the expectation (RFC 9110 section 10.1.1). Nothing has been executed, whatever the method. libcurl
/// also sends a request again if its stream is reset with HTTP_1_1_REQUIRED after the head, but the server has
/// processed such a request.
static bool may_forget_answer(const struct ycurl_exchange *exchange) {
    return !exchange->once || head_status(&exchange->head) == 417;
}

static void forget_answer(struct ycurl_exchange *exchange) {
    exchange->head_phase = HEAD_AWAITED;
    exchange->early.refused = exchange->early.asked_again = false;
    exchange->received.count = 0;
    exchange->received_total = 0;
    codings_end(exchange);
}

/// Rewinds the body to its start before the request is sent again. libcurl itself calls `rewind_body` only if the
/// previous connection had been idle. It does not call `rewind_body` if an HTTP/2 server requires HTTP/1.1 (RFC 9113
/// section 7).
static bool start_body_again(struct ycurl_exchange *exchange) {
    if (exchange->body == YCURL_BODY_FED) return !exchange->fed_taken;
    exchange->body_position = 0;
    return true;
}

/// Returns whether the request must not, or cannot, be sent again, so that no new connection is opened for it.
static bool must_not_go_again(struct ycurl_exchange *exchange) {
    if (!exchange->was_sent || refusal_holds(exchange)) return false;
    if (exchange->head_phase == HEAD_COMPLETE) return !may_forget_answer(exchange);
    return exchange->once || (exchange->body == YCURL_BODY_FED && exchange->fed_taken);
}

/// Turns libcurl's messages on if the connection may use HTTP/2, because they tell that a server has refused the
/// request. Otherwise turns the messages off.
static void listen_for_refusals(struct ycurl_exchange *exchange) {
    ycurl_lib.easy_setopt(exchange->easy, CURLOPT_VERBOSE, exchange->may_be_multiplexed ? 1L : 0L);
    exchange->configured.verbose = exchange->may_be_multiplexed;
}

/// libcurl calls this function each time just before it sends the request.
static int before_request(void *context, char *remote, char *local, int remote_port, int local_port) {
    (void)remote, (void)local;
    struct ycurl_exchange *exchange = context;
    if (exchange->refusal.stream && refusal_holds(exchange)) refusal_forget_request(exchange);
    exchange->local_port = local_port;
    exchange->remote_port = remote_port;
    exchange->refusal.stream = 0;
    exchange->refusal.goes_away = false;
    exchange->heard_on = -1;
    exchange->sent_at = exchange->loop->now;
    bool is_answered = exchange->head_phase == HEAD_COMPLETE;
    if (is_answered && !may_forget_answer(exchange))
        return (int)stop(exchange, YCURL_WOULD_SEND_TWICE, CURL_PREREQFUNC_ABORT);
    // A response that the caller has already received is final.
    if (is_answered && exchange->streaming) return (int)stop(exchange, YCURL_ANSWERED, CURL_PREREQFUNC_ABORT);
    if (is_answered) forget_answer(exchange);
    else if (exchange->was_sent && exchange->once)
        return (int)stop(exchange, YCURL_WOULD_SEND_TWICE, CURL_PREREQFUNC_ABORT);
    if (exchange->was_sent && !start_body_again(exchange))
        return (int)stop(exchange, YCURL_WOULD_SEND_TWICE, CURL_PREREQFUNC_ABORT);
    // The request is sent again only once. If the server refuses it again, the reason is not the connection.
    bool is_refused = exchange->refusal.count > 1 || (exchange->refusal.count && !start_body_again(exchange));
    if (is_refused) return (int)stop(exchange, YCURL_REFUSED, CURL_PREREQFUNC_ABORT);
    exchange->needs_own_connection = refusal_is_risk(exchange);
    if (exchange->needs_own_connection) return CURL_PREREQFUNC_ABORT;
    if (exchange->may_be_multiplexed != exchange->configured.verbose) listen_for_refusals(exchange);
    // The caller has given up an abandoned exchange, so `may_send` is not called.
    bool is_wanted = exchange->was_sent || (exchange->place != ABANDONED && exchange->may_send(exchange->owner));
    if (!is_wanted) return (int)stop(exchange, YCURL_WITHDRAWN, CURL_PREREQFUNC_ABORT);
    if (exchange->shares) sharing_note_sent(exchange);
    exchange->was_sent = true;
    exchange->last_activity = exchange->loop->now;
    return CURL_PREREQFUNC_OK;
}

/// Returns whether an exchange can be ended before its name is looked up.
///
/// libcurl 8.16 treats the end as a name that does not exist. It remembers this result for all requests to the host, even
/// for a request that is looking up the name at that time. With this version, open_socket() ends the exchange after its
/// lookup.
static bool may_end_lookup(void) { return ycurl_version() < 0x081000 || ycurl_version() >= 0x081100; }

static int begin_lookup(void *resolver, void *reserved, void *context) {
    (void)resolver, (void)reserved;
    struct ycurl_exchange *exchange = context;
    bool may_end = may_end_lookup();
    if (may_end && must_not_go_again(exchange)) return (int)stop(exchange, YCURL_WOULD_SEND_TWICE, 1);
    if (may_end && !sharing_may_connect(exchange)) return 1;
    if (exchange->connecting == SOCKET_OPENED) return 0;
    exchange->connecting = NAME_LOOKED_UP;
    exchange->last_activity = exchange->loop->now;
    return 0;
}

static int open_socket(void *context, int purpose, struct curl_sockaddr *address) {
    struct ycurl_exchange *exchange = context;
    if (!sharing_may_connect(exchange)) return CURL_SOCKET_BAD;
    if (exchange->connecting != SOCKET_OPENED) exchange->last_activity = exchange->loop->now;
    exchange->connecting = SOCKET_OPENED;
    if (exchange->place == ABANDONED) return CURL_SOCKET_BAD;
    // If the request is not sent again, a failure of a new connection must not replace the failure of the previous
    // connection.
    if (must_not_go_again(exchange)) {
        exchange->verdict = YCURL_WOULD_SEND_TWICE;
        return CURL_SOCKET_BAD;
    }
    int opened = loop_open_socket(exchange->loop, purpose, address);
    // The reason is recorded here, because libcurl does not check it and tries the next address, which may fail for
    // another reason.
    bool lacks_means = opened < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    if (lacks_means) exchange->os_error = errno;
    return opened;
}

static int note_progress(void *context, int64_t to_receive, int64_t received, int64_t to_send, int64_t sent) {
    struct ycurl_exchange *exchange = context;
    struct ycurl_progress *progress = &exchange->progress;
    if (exchange->minds_end) exchange->has_ended = chain_has_ended(exchange);
    if (progress->received == received && progress->sent == sent) return 0;
    exchange->last_activity = exchange->loop->now;
    if (exchange->configured.ignores_length && exchange->announced_length > 0) to_receive = exchange->announced_length;
    *progress = (struct ycurl_progress){sent, to_send, received, to_receive};
    if (exchange->report_progress) loop_note(exchange->loop, exchange, YCURL_PROGRESSED);
    return 0;
}

// MARK: Installation

int exchange_install_callbacks(struct ycurl_exchange *exchange) {
    void *easy = exchange->easy;
    int (*set)(void *, int, ...) = ycurl_lib.easy_setopt;
    int code = set(easy, CURLOPT_PRIVATE, exchange);
    code |= set(easy, CURLOPT_NOSIGNAL, 1L);
    code |= set(easy, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTP_AND_HTTPS);
    code |= set(easy, CURLOPT_PATH_AS_IS, 1L);
    code |= set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    code |= set(easy, CURLOPT_HEADERFUNCTION, exchange_receive_head);
    code |= set(easy, CURLOPT_HEADERDATA, exchange);
    code |= set(easy, CURLOPT_WRITEFUNCTION, receive_body);
    code |= set(easy, CURLOPT_WRITEDATA, exchange);
    code |= set(easy, CURLOPT_READFUNCTION, send_body);
    code |= set(easy, CURLOPT_READDATA, exchange);
    code |= set(easy, CURLOPT_SEEKFUNCTION, rewind_body);
    code |= set(easy, CURLOPT_SEEKDATA, exchange);
    code |= set(easy, CURLOPT_XFERINFOFUNCTION, note_progress);
    code |= set(easy, CURLOPT_XFERINFODATA, exchange);
    code |= set(easy, CURLOPT_RESOLVER_START_FUNCTION, begin_lookup);
    code |= set(easy, CURLOPT_RESOLVER_START_DATA, exchange);
    code |= set(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    code |= set(easy, CURLOPT_OPENSOCKETDATA, exchange);
    code |= set(easy, CURLOPT_CLOSESOCKETFUNCTION, loop_close_socket);
    code |= set(easy, CURLOPT_CLOSESOCKETDATA, exchange->loop);
    if (ycurl_version() >= 0x075000) {
        code |= set(easy, CURLOPT_PREREQFUNCTION, before_request);
        code |= set(easy, CURLOPT_PREREQDATA, exchange);
    }
    code |= set(easy, CURLOPT_ERRORBUFFER, exchange->words);
    code |= set(easy, CURLOPT_DEBUGFUNCTION, refusal_note_words);
    code |= set(easy, CURLOPT_DEBUGDATA, exchange);
    if (ycurl_version() >= 0x075700) code |= set(easy, CURLOPT_QUICK_EXIT, 1L);
    return code | chain_install(exchange);
}

#endif
