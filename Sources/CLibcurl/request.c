/// Converts a request to libcurl's options. Only options that differ from the previous request are set.
#if defined(__linux__)

#include "exchange.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_name(const char *name, size_t count, const char *known) {
    return strlen(known) == count && strncasecmp(name, known, count) == 0;
}

void ycurl_forget_headers(ycurl_exchange *exchange) {
    exchange->lines.count = exchange->line_count = 0;
    exchange->own_bytes = exchange->own_count = 0;
    exchange->names.accept = exchange->names.content_type = exchange->names.expect = false;
    exchange->names.encoding = exchange->names.range = exchange->names.upgrade = false;
    exchange->is_listed = false;
}

void ycurl_add_header(ycurl_exchange *exchange, const char *name, size_t name_count, const char *value,
                      size_t value_count) {
    struct buffer *lines = &exchange->lines;
    if (is_name(name, name_count, "Accept")) exchange->names.accept = true;
    else if (is_name(name, name_count, "Content-Type")) exchange->names.content_type = true;
    else if (is_name(name, name_count, "Expect")) exchange->names.expect = true;
    else if (is_name(name, name_count, "Accept-Encoding")) exchange->names.encoding = true;
    else if (is_name(name, name_count, "Range")) exchange->names.range = true;
    else if (is_name(name, name_count, "Upgrade")) exchange->names.upgrade = true;
    exchange->own_count = exchange->line_count += 1;
    const size_t most = SIZE_MAX / 4;
    if (name_count > most || value_count > most || !buffer_reserve(lines, name_count + value_count + 3)) {
        exchange->verdict = YCURL_NO_MEMORY;
        return;
    }
    char *end = lines->bytes + lines->count;
    memcpy(end, name, name_count);
    end += name_count;
    // libcurl treats "Name;" as a field without a value, and "Name:" as a field to be removed.
    *end++ = value_count ? ':' : ';';
    if (value_count) {
        *end++ = ' ';
        memcpy(end, value, value_count);
        end += value_count;
    }
    *end++ = 0;
    exchange->own_bytes = lines->count = (size_t)(end - lines->bytes);
}

static void add_line(struct ycurl_exchange *exchange, const char *line) {
    if (!buffer_append(&exchange->lines, line, strlen(line) + 1)) exchange->verdict = YCURL_NO_MEMORY;
    exchange->line_count += 1;
}

/// Adds the header fields that Switchyard sets, and removes those that libcurl would add.
static void complete_lines(struct ycurl_exchange *exchange, bool decompress) {
    exchange->lines.count = exchange->own_bytes;
    exchange->line_count = exchange->own_count;
    // If libcurl wrote this field, it would write it twice, character by character.
    if (decompress) add_line(exchange, ycurl_encodings_line());
    if (!exchange->names.accept) add_line(exchange, "Accept:");
    if (exchange->body < YCURL_BODY_COPIED) return;
    if (!exchange->names.content_type) add_line(exchange, "Content-Type:");
    if (!exchange->names.expect) add_line(exchange, "Expect:");
}

/// Links the header lines into the list that libcurl reads, unless libcurl already has that list. The lines are stored
/// one after the other.
static int install_headers(struct ycurl_exchange *exchange, bool decompress) {
    bool has_body = exchange->body >= YCURL_BODY_COPIED;
    if (exchange->is_listed && exchange->listed_for.decompress == decompress && exchange->listed_for.body == has_body)
        return CURLE_OK;
    exchange->is_listed = true;
    exchange->listed_for.decompress = decompress;
    exchange->listed_for.body = has_body;
    complete_lines(exchange, decompress);
    if (exchange->verdict == YCURL_NO_MEMORY) return CURLE_OUT_OF_MEMORY;
    if (exchange->line_count > exchange->line_nodes_capacity) {
        size_t capacity = exchange->line_count + 2;
        struct curl_slist *nodes = realloc(exchange->line_nodes, capacity * sizeof *nodes);
        if (!nodes) return CURLE_OUT_OF_MEMORY;
        exchange->line_nodes = nodes;
        exchange->line_nodes_capacity = capacity;
    }
    char *line = exchange->lines.bytes;
    for (size_t i = 0; i < exchange->line_count; i++) {
        exchange->line_nodes[i].data = line;
        exchange->line_nodes[i].next = i + 1 < exchange->line_count ? &exchange->line_nodes[i + 1] : NULL;
        line += strlen(line) + 1;
    }
    struct curl_slist *list = exchange->line_count ? exchange->line_nodes : NULL;
    return ycurl_lib.easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, list);
}

// MARK: Method and body

static bool is_upload(enum ycurl_body body) { return body >= YCURL_BODY_BORROWED; }

/// Returns the size of the send buffer. libcurl checks a speed limit only between two pieces. The buffer has at least
/// 16 KiB, and libcurl sends up to 64 KiB of a complete body in one piece.
static long send_buffer(const struct ycurl_exchange *exchange) {
    const int64_t least = 16 << 10, most = 256 << 10;
    if (!is_upload(exchange->body)) return 64 << 10;
    int64_t piece = exchange->send_speed ? exchange->send_speed / 1000 : most;
    if (piece > most) return (long)most;
    return (long)(piece < least ? least : piece);
}

/// Returns the method that libcurl uses for this kind of body if no method is set.
static const char *implied_method(enum ycurl_body body) {
    switch (body) {
    case YCURL_BODY_NONE: return "GET";
    case YCURL_BODY_HEAD_ONLY: return "HEAD";
    case YCURL_BODY_COPIED: return "POST";
    default: return "PUT";
    }
}

static int install_kind(struct ycurl_exchange *exchange) {
    if (exchange->body == exchange->configured.body && exchange->configured.method[0]) return CURLE_OK;
    void *easy = exchange->easy;
    int (*set)(void *, int, ...) = ycurl_lib.easy_setopt;
    // Setting the fields, even to NULL, makes the request a POST. HTTPGET undoes that, and also undoes an upload and a
    // missing body.
    int code = set(easy, CURLOPT_POSTFIELDS, NULL);
    code |= set(easy, CURLOPT_HTTPGET, 1L);
    if (exchange->body == YCURL_BODY_HEAD_ONLY) code |= set(easy, CURLOPT_NOBODY, 1L);
    if (exchange->body == YCURL_BODY_COPIED) code |= set(easy, CURLOPT_POST, 1L);
    if (is_upload(exchange->body)) code |= set(easy, CURLOPT_UPLOAD, 1L);
    if (is_upload(exchange->body) != is_upload(exchange->configured.body))
        code |= set(easy, CURLOPT_UPLOAD_BUFFERSIZE, send_buffer(exchange));
    exchange->configured.body = exchange->body;
    exchange->configured.method[0] = 0;
    return code;
}

static int install_method(struct ycurl_exchange *exchange, const char *method) {
    if (strcmp(method, exchange->configured.method) == 0) return CURLE_OK;
    exchange->configured.method[0] = 0;
    size_t count = strlen(method) + 1;
    if (count <= sizeof exchange->configured.method) memcpy(exchange->configured.method, method, count);
    bool implied = strcmp(method, implied_method(exchange->body)) == 0;
    return ycurl_lib.easy_setopt(exchange->easy, CURLOPT_CUSTOMREQUEST, implied ? NULL : method);
}

static int install_body(struct ycurl_exchange *exchange, const struct ycurl_request *request) {
    int (*set)(void *, int, ...) = ycurl_lib.easy_setopt;
    exchange->body_bytes = request->body_bytes;
    exchange->body_length = request->body_length;
    exchange->body_position = 0;
    exchange->body_copy.count = 0;
    exchange->feed = FEED_GOES_ON;
    exchange->fed_taken = false;
    exchange->early.unwatched = exchange->early.asked_again = exchange->early.refused = false;
    size_t count = 0;
    if (exchange->body == YCURL_BODY_COPIED) count = (size_t)request->body_length;
    if (exchange->body == YCURL_BODY_FILE) count = (size_t)(request->body_length - request->body_file_length);
    if (count && !buffer_append(&exchange->body_copy, request->body_bytes, count)) return CURLE_OUT_OF_MEMORY;
    if (is_upload(exchange->body)) return set(exchange->easy, CURLOPT_INFILESIZE_LARGE, request->body_length);
    if (exchange->body != YCURL_BODY_COPIED) return CURLE_OK;
    int code = set(exchange->easy, CURLOPT_POSTFIELDSIZE_LARGE, request->body_length);
    return code | set(exchange->easy, CURLOPT_POSTFIELDS, count ? exchange->body_copy.bytes : "");
}

// MARK: Limits and options

#define GRACE_MS 100

/// The size of the receive buffer. libcurl checks a speed limit only between two reads, so each read takes the bytes of
/// one millisecond. Measured with 7.88 for 400 kB at 1 MB/s: with reads of 16 KiB, all bytes arrive within 1 to 66 ms,
/// and with reads of 1 KiB they take 375 ms.
static long receive_buffer(const struct ycurl_exchange *exchange) {
    long size = exchange->streaming ? (long)STREAMED_PIECE : (long)RECEIVED_PIECE;
    if (!exchange->receive_speed) return size;
    int64_t piece = exchange->receive_speed / 1000;
    if (piece > (int64_t)RECEIVED_PIECE) return (long)RECEIVED_PIECE;
    return piece < 1 << 10 ? 1 << 10 : (long)piece;
}

/// The time in nanoseconds for which libcurl pauses after a piece because of a speed limit. Newer versions (seen with
/// 8.23) pause for whole seconds.
static int64_t rate_pause(const struct ycurl_exchange *exchange) {
    const int64_t second = 1000000000;
    int64_t receiving = exchange->receive_speed ? receive_buffer(exchange) * second / exchange->receive_speed : 0;
    int64_t sending = exchange->send_speed ? send_buffer(exchange) * second / exchange->send_speed : 0;
    int64_t longest = receiving > sending ? receiving : sending;
    return longest < second ? second : longest;
}

/// Extends the idle timeout by the pauses of a speed limit, during which the server is not silent.
static void extend_idle_limit(struct ycurl_exchange *exchange) {
    bool adds = exchange->idle_limit > 0 && exchange->idle_limit < INT64_MAX / 2;
    if (adds) exchange->idle_limit += rate_pause(exchange);
}

/// Resets the option that makes libcurl deliver bodies without decoding them.
static int decode_again(struct ycurl_exchange *exchange) {
    exchange->configured.raw = false;
    return ycurl_lib.easy_setopt(exchange->easy, CURLOPT_HTTP_CONTENT_DECODING, 1L);
}

static int install_switches(struct ycurl_exchange *exchange, const struct ycurl_request *request, bool decompress) {
    void *easy = exchange->easy;
    int (*set)(void *, int, ...) = ycurl_lib.easy_setopt;
    int code = exchange->configured.raw ? decode_again(exchange) : CURLE_OK;
    if (decompress != exchange->configured.decompress) {
        code |= set(easy, CURLOPT_ACCEPT_ENCODING, decompress ? "" : NULL);
        exchange->configured.decompress = decompress;
    }
    // Sending a piece that libcurl has already read may take longer than the idle timeout. Only libcurl's progress
    // callback shows that bytes of the piece are sent.
    bool watches = request->report_progress || (is_upload(request->body) && request->idle_limit > 0);
    if (watches != exchange->configured.progress) {
        code |= set(easy, CURLOPT_NOPROGRESS, watches ? 0L : 1L);
        exchange->configured.progress = watches;
    }
    long buffer = receive_buffer(exchange);
    if (buffer != exchange->configured.buffer) {
        set(easy, CURLOPT_BUFFERSIZE, buffer);
        exchange->configured.buffer = buffer;
    }
    if (request->bypasses_proxy != exchange->configured.bypasses_proxy) {
        // Switchyard evaluates the proxy's exceptions itself, because versions of libcurl evaluate them differently.
        code |= set(easy, YCURL_NO_PROXY, request->bypasses_proxy == 1 ? "*" : "");
        exchange->configured.bypasses_proxy = request->bypasses_proxy;
    }
    // 0 would be libcurl's default of 300 s. libcurl's timeout is set slightly later than our deadline, because libcurl
    // before 7.87 cannot end a name lookup without waiting.
    long connect = request->connect_timeout_ms > 0 && request->connect_timeout_ms < INT32_MAX - GRACE_MS
                       ? (long)request->connect_timeout_ms + GRACE_MS : INT32_MAX;
    if (connect != exchange->configured.connect_timeout) {
        code |= set(easy, CURLOPT_CONNECTTIMEOUT_MS, connect);
        exchange->configured.connect_timeout = connect;
    }
    return code;
}

/// The maximum size of a body buffer that is kept for the next request.
#define MOST_KEPT ((size_t)128 << 10)

/// Takes over the file of a body, and records the file's current state.
static void take_file(struct ycurl_exchange *exchange, const struct ycurl_request *request) {
    struct stat now;
    int file = request->body_file;
    exchange->body_file = file;
    exchange->body_file_length = request->body_file_length;
    exchange->body_before = request->body_before;
    exchange->body_file_time = fstat(file, &now) == 0 ? now.st_mtim : (struct timespec){0};
    // The loop's thread reads the file, and other exchanges need that thread. The system should therefore read ahead.
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
}

/// Returns a hash of scheme, host and port (FNV-1a). If two servers have the same hash, this only costs an extra
/// connection.
static uint64_t origin_of(const char *url) {
    uint64_t hash = 0xcbf29ce484222325;
    for (int slashes = 0; *url; url++) {
        if (*url == '/' && ++slashes == 3) break;
        hash = (hash ^ (unsigned char)*url) * 0x100000001b3;
    }
    return hash;
}

/// Resets the state of the previous request. Memory and options that can be reused are kept.
static void start_over(struct ycurl_exchange *exchange, const struct ycurl_request *request) {
    if (exchange->body_file >= 0) exchange_close_file(exchange);
    if (request->body == YCURL_BODY_FILE) take_file(exchange, request);
    if (exchange->body_copy.capacity > MOST_KEPT) buffer_free(&exchange->body_copy);
    if (exchange->received.capacity > MOST_KEPT) buffer_free(&exchange->received);
    exchange->owner = request->owner;
    exchange->body = request->body;
    exchange->once = request->once;
    exchange->fresh = request->fresh;
    exchange->may_be_multiplexed = request->may_be_multiplexed;
    exchange->shares = request->shares;
    exchange->sharing = (struct sharing){0};
    exchange->refusal = (struct refusal){0};
    exchange->needs_own_connection = false;
    exchange->local_port = exchange->remote_port = 0;
    exchange->words[0] = 0;
    exchange->origin = origin_of(request->url);
    exchange->report_progress = request->report_progress;
    exchange->was_sent = false;
    exchange->may_send = request->may_send;
    exchange->head.count = 0;
    exchange->head_limit = request->head_limit;
    exchange->head_total = 0;
    exchange->announced_length = -1;
    exchange->contradicts_length = exchange->names_transfer = false;
    exchange->head_phase = HEAD_AWAITED;
    exchange->is_multiplexed = false;
    exchange->names_location = exchange->is_skipped = exchange->minds_end = false;
    exchange->skips_redirect_body = request->skip_redirect_body;
    exchange->received.count = 0;
    exchange->received_total = 0;
    exchange->received_limit = request->body_limit;
    exchange->streaming = request->stream_window > 0;
    exchange->window = request->stream_window;
    exchange->receive_paused = false;
    exchange->os_error = 0;
    exchange->progress = (struct ycurl_progress){0};
    exchange->connecting = UNCONNECTED;
    exchange->connect_deadline = request->connect_deadline;
    exchange->deadline = request->deadline;
    exchange->idle_limit = request->idle_limit;
    if (exchange->limits_speed) extend_idle_limit(exchange);
    exchange->events = 0;
}

static bool head_fits(const struct ycurl_exchange *exchange, const struct ycurl_request *request) {
    size_t size = exchange->own_bytes + exchange->own_count + strlen(request->url) + strlen(request->method);
    if (request->body == YCURL_BODY_COPIED) size += (size_t)request->body_length;
    return size <= YCURL_MOST_REQUEST_HEAD;
}

int ycurl_prepare(ycurl_exchange *exchange, const struct ycurl_request *request) {
    start_over(exchange, request);
    bool fits = head_fits(exchange, request);
    // If the caller sets Accept-Encoding, the response stays encoded. A range counts encoded bytes, so it cannot be
    // decoded.
    bool decompress = request->decompress && !exchange->names.encoding && !exchange->names.range;
    int code = fits ? ycurl_lib.easy_setopt(exchange->easy, CURLOPT_URL, request->url) : CURLE_TOO_LARGE;
    if (code == CURLE_OK) code = install_headers(exchange, decompress);
    if (code == CURLE_OK) code = install_kind(exchange);
    if (code == CURLE_OK) code = install_method(exchange, request->method);
    if (code == CURLE_OK) code = install_body(exchange, request);
    if (code == CURLE_OK) code = install_switches(exchange, request, decompress);
    if (code == CURLE_OK && request->opening) code = connection_prepare(exchange, request);
    exchange->verdict = YCURL_NO_VERDICT;
    return code;
}

#endif
