/// The lifetime of an exchange: creation, destruction, and its results.
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
    exchange->configured.connect_timeout = -1;
    exchange->socket = -1;
    exchange->configured.bypasses_proxy = -1;
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
    connection_free(exchange);
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
    // An option that this version of libcurl does not have needs no reset.
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

bool ycurl_has_head(const ycurl_exchange *exchange) { return exchange->head_phase == HEAD_COMPLETE; }

long ycurl_status(const ycurl_exchange *exchange) {
    if (exchange->connection) return exchange->head_phase == HEAD_COMPLETE ? head_status(&exchange->head) : 0;
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
    // A caller may keep a body for a long time, so the unused capacity is released.
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
        int mask = CURLPAUSE_RECV | (exchange->feed == FEED_AWAITED ? CURLPAUSE_SEND : 0);
        ycurl_lib.easy_pause(exchange->easy, mask);
    }
    return exchange->receive_paused;
}

void ycurl_body_resume(ycurl_exchange *exchange) {
    exchange->receive_paused = false;
    exchange->last_activity = exchange->loop->now;
    if (exchange->connection) return connection_move(exchange);
    if (exchange->early.refused) {
        end_wait(exchange);
        early_note_doubt(exchange->loop, exchange);
    }
    int code = ycurl_lib.easy_pause(exchange->easy, exchange->feed == FEED_AWAITED ? CURLPAUSE_SEND : CURLPAUSE_CONT);
    // This call also delivers data that libcurl held back. If the delivery fails, only this call reports the failure.
    // The bytes are lost then, and the transfer would continue after the gap, so the exchange ends.
    if (code != CURLE_OK && exchange->place == RUNNING) loop_note_finished(exchange->loop, exchange, code);
}

// MARK: A body that is fed

int ycurl_upload_offer(ycurl_exchange *exchange, const void *bytes, size_t count) {
    bool is_awaited = exchange->feed == FEED_AWAITED;
    if (count == 0) {
        exchange->feed = FEED_ENDED;
    } else {
        if (exchange->body_position == (int64_t)exchange->body_copy.count) {
            exchange->body_copy.count = 0;
            exchange->body_position = 0;
        }
        if (!buffer_append(&exchange->body_copy, bytes, count)) return CURLE_OUT_OF_MEMORY;
    }
    if (!is_awaited) return CURLE_OK;
    end_wait(exchange);
    exchange->last_activity = exchange->loop->now;
    return ycurl_lib.easy_pause(exchange->easy, exchange->receive_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
}

int exchange_judge_end(struct ycurl_exchange *exchange, int code) {
    bool is_cut = exchange->minds_end && !exchange->has_ended;
    if (is_cut && code == CURLE_OK) code = CURLE_PARTIAL_FILE;
    if (exchange->gunzip && codings_end(exchange) && code == CURLE_OK) code = CURLE_BAD_CONTENT_ENCODING;
    if (exchange->body < YCURL_BODY_COPIED || exchange->verdict != YCURL_NO_VERDICT) return code;
    // A server that has responded may reset the stream of an upload. The response remains valid (RFC 9113 section 8.1).
    if (code == CURLE_HTTP2_STREAM && early_is_whole(exchange)) exchange->verdict = YCURL_ANSWERED;
    if (code != CURLE_OK || !exchange->configured.ignores_length) return code;
    long status = ycurl_status(exchange);
    bool has_body = status != 204 && status != 304;
    bool is_short = info_offset(exchange, CURLINFO_SIZE_DOWNLOAD_T) < exchange->announced_length;
    return has_body && is_short ? CURLE_PARTIAL_FILE : code;
}

// MARK: Results

/// Returns whether bytes of the request may have reached the server.
static bool may_have_been_sent(ycurl_exchange *exchange, bool begun) {
    // The size that libcurl reports includes a request to a proxy. From 7.80 on, the size is not needed, because
    // libcurl calls before_request() after that request.
    if (exchange->was_sent || ycurl_version() >= 0x075000) return exchange->was_sent;
    return begun || info_long(exchange, CURLINFO_REQUEST_SIZE) > 0;
}

void ycurl_diagnose(ycurl_exchange *exchange, struct ycurl_diagnosis *diagnosis) {
    bool begun = info_offset(exchange, CURLINFO_PRETRANSFER_TIME_T) > 0;
    *diagnosis = (struct ycurl_diagnosis){
        .verdict = chain_was_refused(exchange) ? YCURL_NOT_PINNED : exchange->verdict,
        .os_error = exchange->os_error ? exchange->os_error : (int)info_long(exchange, CURLINFO_OS_ERRNO),
        .connect_status = info_long(exchange, CURLINFO_HTTP_CONNECTCODE),
        .proxy_error = ycurl_version() >= 0x074900 ? info_long(exchange, CURLINFO_PROXY_ERROR) : 0,
        .words = exchange->words,
        .head_complete = exchange->head_phase == HEAD_COMPLETE,
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
