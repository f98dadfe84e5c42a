/// The life of an exchange: making, freeing, and what it tells afterwards.
#if defined(__linux__)

#include "exchange.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ycurl_exchange *ycurl_exchange_create(ycurl_loop *loop) {
    struct ycurl_exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange) return NULL;
    exchange->loop = loop;
    exchange->body_file = -1;
    exchange->heap_index = NOT_IN_HEAP;
    exchange->configured_connect_timeout = -1;
    exchange->socket = -1;
    exchange->easy = ycurl_lib.easy_init();
    if (!exchange->easy || exchange_install_callbacks(exchange) != CURLE_OK) {
        ycurl_exchange_destroy(exchange);
        return NULL;
    }
    return exchange;
}

static void free_resolve(struct ycurl_exchange *exchange) {
    while (exchange->resolve) {
        struct curl_slist *next = exchange->resolve->next;
        free(exchange->resolve->data);
        free(exchange->resolve);
        exchange->resolve = next;
    }
}

void exchange_close_file(struct ycurl_exchange *exchange) {
    if (exchange->body_file >= 0) close(exchange->body_file);
    exchange->body_file = -1;
}

void ycurl_exchange_destroy(ycurl_exchange *exchange) {
    if (exchange->easy) ycurl_lib.easy_cleanup(exchange->easy);
    exchange_close_file(exchange);
    codings_end(exchange);
    buffer_free(&exchange->lines);
    buffer_free(&exchange->body_copy);
    buffer_free(&exchange->head);
    buffer_free(&exchange->received);
    free(exchange->line_nodes);
    free_resolve(exchange);
    free(exchange);
}

// MARK: Options

int ycurl_set_long(ycurl_exchange *exchange, int option, long value) {
    return ycurl_lib.easy_setopt(exchange->easy, option, value);
}

int ycurl_set_offset(ycurl_exchange *exchange, int option, int64_t value) {
    if (option == YCURL_RECEIVE_SPEED) exchange->receive_speed = value;
    if (option == YCURL_SEND_SPEED) exchange->send_speed = value;
    if (option == YCURL_RECEIVE_SPEED || option == YCURL_SEND_SPEED) exchange->limits_speed = true;
    return ycurl_lib.easy_setopt(exchange->easy, option, value);
}

int ycurl_set_string(ycurl_exchange *exchange, int option, const char *value) {
    return ycurl_lib.easy_setopt(exchange->easy, option, value);
}

int ycurl_clear_string(ycurl_exchange *exchange, int option) {
    int code = ycurl_lib.easy_setopt(exchange->easy, option, NULL);
    // What this libcurl does not have needs no taking back.
    return code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
}

int ycurl_set_blob(ycurl_exchange *exchange, int option, const void *bytes, size_t count) {
    enum { COPY = 1 };
    struct curl_blob blob = {(void *)bytes, count, COPY};
    return ycurl_lib.easy_setopt(exchange->easy, option, &blob);
}

int ycurl_set_resolve(ycurl_exchange *exchange, const char *const *entries, size_t count) {
    free_resolve(exchange);
    struct curl_slist **end = &exchange->resolve;
    for (size_t i = 0; i < count; i++) {
        struct curl_slist *node = calloc(1, sizeof *node);
        if (node) node->data = strdup(entries[i]);
        if (!node || !node->data) {
            free(node);
            return CURLE_OUT_OF_MEMORY;
        }
        *end = node;
        end = &node->next;
    }
    return ycurl_lib.easy_setopt(exchange->easy, YCURL_RESOLVE, exchange->resolve);
}

// MARK: The response

void *ycurl_exchange_owner(const ycurl_exchange *exchange) { return exchange->owner; }

const char *ycurl_head(const ycurl_exchange *exchange, size_t *count) {
    *count = exchange->head.count;
    return exchange->head.bytes;
}

bool ycurl_has_head(const ycurl_exchange *exchange) { return exchange->head_complete; }

long ycurl_status(const ycurl_exchange *exchange) {
    long status = 0;
    ycurl_lib.easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

const void *ycurl_body_bytes(const ycurl_exchange *exchange, size_t *count) {
    *count = exchange->received.count;
    return exchange->received.bytes;
}

void *ycurl_body_take(ycurl_exchange *exchange, size_t *count) {
    struct buffer *received = &exchange->received;
    *count = received->count;
    if (!received->count) return NULL;
    char *bytes = received->bytes;
    // A caller may keep a body for long: give the slack of doubling back.
    if (received->capacity - received->count > received->count / 4) {
        char *fitted = realloc(bytes, received->count);
        if (fitted) bytes = fitted;
    }
    *received = (struct buffer){0};
    return bytes;
}

size_t ycurl_body_capacity(const ycurl_exchange *exchange) { return exchange->received.capacity; }

void *ycurl_body_swap(ycurl_exchange *exchange, void *spare, size_t capacity) {
    char *bytes = exchange->received.bytes;
    exchange->received = (struct buffer){spare, 0, capacity};
    return bytes;
}

void ycurl_body_clear(ycurl_exchange *exchange) { exchange->received.count = 0; }

bool ycurl_body_open_window(ycurl_exchange *exchange, size_t window) {
    exchange->window = window;
    if (window == 0 && exchange->encoded && !exchange->receive_paused) {
        exchange->receive_paused = true;
        int mask = CURLPAUSE_RECV | (exchange->fed_waiting ? CURLPAUSE_SEND : 0);
        ycurl_lib.easy_pause(exchange->easy, mask);
    }
    return exchange->receive_paused;
}

void ycurl_body_resume(ycurl_exchange *exchange) {
    exchange->receive_paused = false;
    exchange->last_activity = exchange->loop->now;
    if (exchange->refused) {
        exchange->fed_waiting = false;
        loop_note_doubt(exchange->loop, exchange);
    }
    int code = ycurl_lib.easy_pause(exchange->easy, exchange->fed_waiting ? CURLPAUSE_SEND : CURLPAUSE_CONT);
    // What libcurl held back is handed over within the call. When that fails, libcurl says so here and nowhere else:
    // the bytes are gone, and the transfer would go on behind the hole.
    if (code != CURLE_OK && exchange->running) loop_note_finished(exchange->loop, exchange, code);
}

// MARK: A body that is fed

int ycurl_upload_offer(ycurl_exchange *exchange, const void *bytes, size_t count) {
    if (count == 0) {
        exchange->fed_ended = true;
    } else {
        if (exchange->body_position == (int64_t)exchange->body_copy.count) {
            exchange->body_copy.count = 0;
            exchange->body_position = 0;
        }
        if (!buffer_append(&exchange->body_copy, bytes, count)) return CURLE_OUT_OF_MEMORY;
    }
    exchange->asked_again = false;
    if (!exchange->fed_waiting) return CURLE_OK;
    exchange->fed_waiting = false;
    exchange->last_activity = exchange->loop->now;
    return ycurl_lib.easy_pause(exchange->easy, exchange->receive_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
}

/// A connection of which libcurl wants to know nothing while it waits for more of a fed body has nothing more to say:
/// its answer has been read, or it was closed without one. libcurl itself would wait for the body all the same.
void exchange_note_watching(void *easy, int what) {
    struct ycurl_exchange *exchange = NULL;
    ycurl_lib.easy_getinfo(easy, CURLINFO_PRIVATE, &exchange);
    if (!exchange || exchange->body != YCURL_BODY_FED || !exchange->running || exchange->limits_speed) return;
    exchange->unwatched = what == CURL_POLL_NONE || what == CURL_POLL_REMOVE;
    bool may_be_over = exchange->unwatched && exchange->fed_waiting && !exchange->asked_again;
    if (may_be_over) loop_note_doubt(exchange->loop, exchange);
}

static long info_long(ycurl_exchange *exchange, int info) {
    long value = 0;
    ycurl_lib.easy_getinfo(exchange->easy, info, &value);
    return value;
}

static int64_t info_offset(ycurl_exchange *exchange, int info) {
    int64_t value = 0;
    ycurl_lib.easy_getinfo(exchange->easy, info, &value);
    return value;
}

static bool speaks_http2(struct ycurl_exchange *exchange) {
    return info_long(exchange, CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2;
}

int64_t exchange_sent(struct ycurl_exchange *exchange) { return info_offset(exchange, CURLINFO_SIZE_UPLOAD_T); }

bool exchange_is_behind(struct ycurl_exchange *exchange) {
    if (exchange->body < YCURL_BODY_COPIED || exchange->body_length == 0 || !speaks_http2(exchange)) return false;
    return exchange->body_length < 0 || exchange_sent(exchange) < exchange->body_length;
}

/// An HTTP/2 stream may end with what we send last, the answer having come before. libcurl takes no notice of that
/// until it looks at the stream again, for which nothing but the end of a pause gives it a reason (seen with 7.88).
///
/// What it has read of the body last may wait for the server's window or for the socket, and goes out without a word to
/// us. So there is another look whenever a socket has moved, or bytes were sent, by a look perhaps.
static void look_again(struct ycurl_exchange *exchange) {
    if (!speaks_http2(exchange)) return;
    ycurl_loop_push(exchange->loop);
    if (!exchange->running) return;
    exchange->sent_at_look = exchange_sent(exchange);
    int pauses = (exchange->receive_paused ? CURLPAUSE_RECV : 0) | (exchange->fed_waiting ? CURLPAUSE_SEND : 0);
    ycurl_lib.easy_pause(exchange->easy, pauses | CURLPAUSE_SEND);
    ycurl_lib.easy_pause(exchange->easy, pauses);
    loop_note_ahead(exchange->loop, exchange);
}

/// Whether all has come that the answer's Content-Length announced, so that nothing the upload does can take from it.
static bool is_answered(struct ycurl_exchange *exchange) {
    if (!exchange->head_complete || exchange->receive_paused || exchange->announced_length < 0) return false;
    return info_offset(exchange, CURLINFO_SIZE_DOWNLOAD_T) == exchange->announced_length;
}

/// Ends an upload that was refused. libcurl would say so to the server with the stream's last frame, and wait for the
/// answer's end until that frame has gone, which takes a window that nobody may open any more.
static bool ends_refused(struct ycurl_exchange *exchange) {
    if (!exchange->refused || !speaks_http2(exchange) || !is_answered(exchange)) return false;
    exchange->verdict = YCURL_ANSWERED;
    loop_note_finished(exchange->loop, exchange, -1);
    return true;
}

void exchange_look_for_end(struct ycurl_exchange *exchange) {
    if (!exchange->running || exchange->links[FINISHED].is_listed || ends_refused(exchange)) return;
    bool ends = exchange->unwatched || exchange->refused;  // Else it has gone on since, on another connection perhaps.
    if (exchange->fed_waiting && !exchange->receive_paused && ends) {
        if (!exchange->head_complete) return loop_note_finished(exchange->loop, exchange, CURLE_GOT_NOTHING);
        // libcurl takes the answer for a reason to stop sending, or else asks for more of the body and looks away
        // again: to ask it each time would never end.
        exchange->fed_waiting = false;
        exchange->asked_again = exchange->unwatched;
        ycurl_lib.easy_pause(exchange->easy, CURLPAUSE_CONT);
    }
    if (exchange->head_complete) look_again(exchange);
}

int exchange_judge_end(struct ycurl_exchange *exchange, int code) {
    bool is_cut = exchange->minds_end && !exchange->has_ended;
    if (is_cut && code == CURLE_OK) code = CURLE_PARTIAL_FILE;
    if (codings_end(exchange) && code == CURLE_OK) code = CURLE_BAD_CONTENT_ENCODING;
    if (exchange->body < YCURL_BODY_COPIED || exchange->verdict != YCURL_NO_VERDICT) return code;
    // A server that has answered may reset the stream of an upload: the answer stays (RFC 9113 section 8.1).
    if (code == CURLE_HTTP2_STREAM && is_answered(exchange)) exchange->verdict = YCURL_ANSWERED;
    if (code != CURLE_OK || !exchange->configured_ignores_length) return code;
    long status = ycurl_status(exchange);
    bool has_body = status != 204 && status != 304;
    bool is_short = info_offset(exchange, CURLINFO_SIZE_DOWNLOAD_T) < exchange->announced_length;
    return has_body && is_short ? CURLE_PARTIAL_FILE : code;
}

// MARK: What happened

/// Whether bytes of the request may have got to the server.
static bool may_have_been_sent(ycurl_exchange *exchange, bool begun) {
    // libcurl counts what it asks a proxy for, too; from 7.80 on it calls before_request() when that is done.
    if (exchange->was_sent || ycurl_version() >= 0x075000) return exchange->was_sent;
    return begun || info_long(exchange, CURLINFO_REQUEST_SIZE) > 0;
}

void ycurl_diagnose(ycurl_exchange *exchange, struct ycurl_diagnosis *diagnosis) {
    bool begun = info_offset(exchange, CURLINFO_PRETRANSFER_TIME_T) > 0;
    *diagnosis = (struct ycurl_diagnosis){
        .verdict = chain_was_refused(exchange) ? YCURL_NOT_PINNED : exchange->verdict,
        .os_error = exchange->os_error ? exchange->os_error : (int)info_long(exchange, CURLINFO_OS_ERRNO),
        .connect_status = info_long(exchange, CURLINFO_HTTP_CONNECTCODE),
        .head_complete = exchange->head_complete,
        .chunked = exchange->names_transfer,
        .request_sent = may_have_been_sent(exchange, begun),
        .connected = begun || exchange->was_sent,
    };
}

void ycurl_measure(ycurl_exchange *exchange, struct ycurl_metrics *metrics) {
    *metrics = (struct ycurl_metrics){
        .name_lookup = info_offset(exchange, CURLINFO_NAMELOOKUP_TIME_T),
        .connected = info_offset(exchange, CURLINFO_CONNECT_TIME_T),
        .secured = info_offset(exchange, CURLINFO_APPCONNECT_TIME_T),
        .first_byte = info_offset(exchange, CURLINFO_STARTTRANSFER_TIME_T),
        .total = info_offset(exchange, CURLINFO_TOTAL_TIME_T),
        .sent = info_offset(exchange, CURLINFO_SIZE_UPLOAD_T),
        .received = info_offset(exchange, CURLINFO_SIZE_DOWNLOAD_T),
        .reused = info_long(exchange, CURLINFO_NUM_CONNECTS) == 0,
        .http_version = info_long(exchange, CURLINFO_HTTP_VERSION),
    };
}

void ycurl_progress_read(const ycurl_exchange *exchange, struct ycurl_progress *progress) {
    *progress = exchange->progress;
}

#endif
