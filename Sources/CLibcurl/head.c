/// The parser of a response's head, line by line, and its effects on the body.
#if defined(__linux__)

#include "exchange.h"

#include <string.h>
#include <strings.h>

int head_status(const struct buffer *head) {
    const char *end = head->bytes + head->count, *at = memchr(head->bytes, ' ', head->count);
    while (at && at < end && *at == ' ') at++;
    int status = 0, digits = 0;
    for (; at && at < end && digits < 3 && *at >= '0' && *at <= '9'; at++, digits++) status = status * 10 + (*at - '0');
    return digits == 3 ? status : 0;
}

/// Returns whether the status is a redirect.
static bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Makes libcurl continue to read after the announced length, where it would otherwise stop. Over HTTP/2 it must read
/// as long as the request body is being sent, because the server controls how much of that body may be sent.
static void read_on(struct ycurl_exchange *exchange, bool is_http2) {
    bool ignores_length = is_http2 && exchange->body >= YCURL_BODY_COPIED;
    if (ignores_length == exchange->configured.ignores_length) return;
    ycurl_lib.easy_setopt(exchange->easy, CURLOPT_IGNORE_CONTENT_LENGTH, ignores_length ? 1L : 0L);
    exchange->configured.ignores_length = ignores_length;
}

static void start_head(struct ycurl_exchange *exchange, const char *line, size_t count) {
    bool is_http2 = count > 5 && line[5] == '2';
    if (is_http2 || exchange->configured.ignores_length) read_on(exchange, is_http2);
    exchange->is_multiplexed = count > 5 && line[5] > '1';
    if (exchange->may_be_multiplexed) sharing_note_version(exchange, !exchange->is_multiplexed);
    exchange->head.count = 0;
    exchange->head_phase = HEAD_BEGUN;
    exchange->encoded = exchange->contradicts_length = exchange->names_transfer = exchange->names_location = false;
    exchange->codings = (struct codings){0};
    exchange->announced_length = -1;
}

/// Replaces carriage returns within a line by spaces, so that they do not get into another message (RFC 9110 section
/// 5.5).
static void blank_stray_returns(char *line, size_t count) {
    char *end = line + count;
    for (char *at = line; (at = memchr(at, '\r', (size_t)(end - at))); at++)
        if (end - at != 2 || at[1] != '\n') *at = ' ';
}

static bool is_blank(char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

/// Parses a Content-Length, which may be a list of equal numbers (RFC 9110 section 8.6). libcurl does not compare the
/// numbers: it uses the first number of the last field.
static void note_length(struct ycurl_exchange *exchange, const char *text, const char *end) {
    while (text < end) {
        while (text < end && is_blank(*text)) text++;
        int64_t length = 0;
        const char *digits = text;
        while (text < end && *text >= '0' && *text <= '9' && length <= (INT64_MAX - 9) / 10)
            length = length * 10 + (*text++ - '0');
        bool is_number = text > digits;
        while (text < end && is_blank(*text)) text++;
        bool goes_on = text < end && *text == ',';
        bool agrees = exchange->announced_length < 0 || exchange->announced_length == length;
        if (!is_number || !agrees || (text < end && !goes_on)) exchange->contradicts_length = true;
        if (exchange->contradicts_length) return;
        exchange->announced_length = length;
        text++;
    }
}

static bool is_field(const char *line, size_t count, const char *name, size_t name_count) {
    return count >= name_count && strncasecmp(line, name, name_count) == 0;
}

/// Records the header fields that the transfer depends on.
static void note_field(struct ycurl_exchange *exchange, const char *line, size_t count) {
    static const char length[] = "Content-Length:", encoding[] = "Content-Encoding:", transfer[] = "Transfer-Encoding:",
                      location[] = "Location:";
    if (is_field(line, count, length, sizeof length - 1)) note_length(exchange, line + sizeof length - 1, line + count);
    else if (is_field(line, count, transfer, sizeof transfer - 1)) exchange->names_transfer = true;
    else if (is_field(line, count, location, sizeof location - 1)) exchange->names_location = true;
    else if (exchange->configured.decompress && is_field(line, count, encoding, sizeof encoding - 1))
        codings_note(&exchange->codings, line + sizeof encoding - 1, count - (sizeof encoding - 1));
}

/// The maximum time in nanoseconds and the maximum size in bytes for which the body of a redirect is read. The body
/// usually arrives with the head or directly after it. If the body is read, the next request can reuse the connection.
#define SKIPPED_TIME 100000000
#define MOST_SKIPPED (64 << 10)

/// Arranges that the body of a redirect is discarded without decoding, because only the head is needed.
static void skip_body(struct ycurl_exchange *exchange, int status) {
    if (!is_redirect(status)) return;
    exchange->is_skipped = true;
    exchange->codings = (struct codings){.names_unknown = true};
    deadlines_shorten(exchange->loop, exchange, SKIPPED_TIME);
}

size_t exchange_skip_piece(struct ycurl_exchange *exchange, size_t count) {
    exchange->received_total += (int64_t)count;
    return exchange->received_total > MOST_SKIPPED ? stop(exchange, YCURL_ANSWERED, 0) : count;
}

/// Turns on the check of the signalled end for a body that needs it.
///
/// A body without a length that ends with its connection counts as complete only if TLS has signalled the end (RFC 9112
/// section 9.8). libcurl (7.88) does not report this signal. It calls the progress callback once more before it
/// releases the connection, and the signal is checked there.
static void mind_end(struct ycurl_exchange *exchange, int status) {
    bool has_body = status >= 200 && status != 204 && status != 304 && exchange->body != YCURL_BODY_HEAD_ONLY;
    bool ends_with_connection = !exchange->names_transfer && !exchange->is_multiplexed;
    if (!has_body || !ends_with_connection || !chain_mind_end(exchange)) return;
    exchange->minds_end = true;
    exchange->has_ended = false;
    if (!exchange->configured.progress) ycurl_lib.easy_setopt(exchange->easy, CURLOPT_NOPROGRESS, 0L);
    exchange->configured.progress = true;
}

/// Handles the end of a head.
static void finish_head(struct ycurl_exchange *exchange, int status) {
    exchange->head_phase = HEAD_COMPLETE;
    if (exchange->skips_redirect_body && exchange->names_location) skip_body(exchange, status);
    bool has_coding = exchange->codings.count || exchange->codings.names_unknown;
    if (has_coding || exchange->gunzip) codings_settle(exchange);
    if (exchange->announced_length < 0) mind_end(exchange, status);
    if (exchange->streaming) loop_note(exchange->loop, exchange, YCURL_HEAD_ARRIVED);
    bool sends_body = exchange->body >= YCURL_BODY_COPIED;
    if (sends_body || exchange->head.count >= RECEIVED_PIECE) early_note_answer(exchange);
}

size_t exchange_receive_head(const char *line, size_t size, size_t count, void *context) {
    struct ycurl_exchange *exchange = context;
    count *= size;
    exchange->last_activity = exchange->loop->now;
    if (exchange->may_be_multiplexed) deaf_note_received(exchange);
    struct buffer *head = &exchange->head;
    // The total is limited, because libcurl stores all interim responses and trailers, and a server may send them
    // without end.
    exchange->head_total += count;
    if (exchange->head_total > exchange->head_limit) return stop(exchange, YCURL_HEAD_TOO_LARGE, 0);
    if (exchange->head_phase == HEAD_COMPLETE) return count;  // A trailer is discarded, because it must not look like a header.
    bool starts = exchange->head_phase == HEAD_AWAITED && count >= 5 && strncasecmp(line, "HTTP/", 5) == 0;
    if (starts) start_head(exchange, line, count);
    if (!buffer_append(head, line, count)) return stop(exchange, YCURL_NO_MEMORY, 0);
    blank_stray_returns(head->bytes + head->count - count, count);
    note_field(exchange, line, count);
    bool ends = (count == 2 && line[0] == '\r') || (count == 1 && line[0] == '\n');
    if (!ends) return count;
    exchange->head_phase = HEAD_AWAITED;
    int status = head_status(head);
    if (status >= 100 && status < 200 && status != 101) return count;  // Another head follows; only 101 is final.
    // The bytes that follow belong to an unknown protocol, but libcurl would treat them as a body.
    if (status == 101 && !exchange->names.upgrade) return stop(exchange, YCURL_UNASKED_PROTOCOL, 0);
    // If two lengths contradict each other, the end of the body is unknown (RFC 9112 section 6.3). A chunked body has
    // no such problem.
    if (exchange->contradicts_length && !exchange->names_transfer) return stop(exchange, YCURL_LENGTH_CONTRADICTED, 0);
    finish_head(exchange, status);
    return count;
}

#endif
