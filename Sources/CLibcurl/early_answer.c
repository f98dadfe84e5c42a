/// Responses that arrive before the end of the request body. libcurl may miss the end of such a response, or continue
/// to send to a server that has already responded.
#if defined(__linux__)

#include "exchange.h"

/// Schedules another check of an exchange whose response arrived before the end of the request body.
static void early_note(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    if (!exchange->links[AHEAD].is_listed && exchange->place != ABANDONED) list_append(loop, AHEAD, exchange);
}

void early_note_doubt(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    if (exchange->place != RUNNING || exchange->early.in_doubt) return;
    exchange->early.in_doubt = true;
    loop->doubt_count++;
    early_note(loop, exchange);
}

/// Records that libcurl has stopped watching a connection while it waits for more of a fed body. The connection then
/// has no more data: its response has been read, or the server has closed it without a response. libcurl itself would
/// continue to wait for the body.
void early_note_watching(void *easy, int what) {
    struct ycurl_exchange *exchange = NULL;
    ycurl_lib.easy_getinfo(easy, CURLINFO_PRIVATE, &exchange);
    if (!exchange || exchange->body != YCURL_BODY_FED || exchange->place != RUNNING || exchange->limits_speed) return;
    exchange->early.unwatched = what == CURL_POLL_NONE || what == CURL_POLL_REMOVE;
    bool may_be_over = exchange->early.unwatched && exchange->feed == FEED_AWAITED && !exchange->early.asked_again;
    if (may_be_over) early_note_doubt(exchange->loop, exchange);
}

static bool speaks_http2(struct ycurl_exchange *exchange) {
    return info_long(exchange, CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2;
}

/// The number of bytes of the body that libcurl has sent.
static int64_t sent(struct ycurl_exchange *exchange) { return info_offset(exchange, CURLINFO_SIZE_UPLOAD_T); }

/// Returns whether the request body is sent over HTTP/2 and has not been sent completely.
static bool is_behind(struct ycurl_exchange *exchange) {
    if (exchange->body < YCURL_BODY_COPIED || exchange->body_length == 0 || !speaks_http2(exchange)) return false;
    return exchange->body_length < 0 || sent(exchange) < exchange->body_length;
}

/// Makes libcurl check an HTTP/2 stream again. The stream may end with the last frame that is sent, after the response.
/// libcurl does not notice such an end until it checks the stream again. It does so only at the end of a pause (seen
/// with 7.88).
///
/// libcurl may have read the last bytes of the body without having sent them, because the server's window is closed or
/// the socket is full. It then sends them later without a callback. Therefore the stream is checked again whenever a
/// socket has had an event or bytes were sent, even if the check itself has sent them.
static void look_again(struct ycurl_exchange *exchange, loop_push push) {
    if (!speaks_http2(exchange)) return;
    push(exchange->loop);
    if (exchange->place != RUNNING) return;
    exchange->early.sent_at_look = sent(exchange);
    int pauses = (exchange->receive_paused ? CURLPAUSE_RECV : 0) | (exchange->feed == FEED_AWAITED ? CURLPAUSE_SEND : 0);
    ycurl_lib.easy_pause(exchange->easy, pauses | CURLPAUSE_SEND);
    ycurl_lib.easy_pause(exchange->easy, pauses);
    early_note(exchange->loop, exchange);
}

bool early_is_whole(struct ycurl_exchange *exchange) {
    if (exchange->head_phase != HEAD_COMPLETE || exchange->receive_paused || exchange->announced_length < 0) return false;
    return info_offset(exchange, CURLINFO_SIZE_DOWNLOAD_T) == exchange->announced_length;
}

/// Ends an upload after a response that makes libcurl stop sending. libcurl would end the stream with a last frame, and
/// would wait for the end of the response until that frame is sent. The server may never open the window that the frame
/// needs.
static bool ends_refused(struct ycurl_exchange *exchange) {
    if (!exchange->early.refused || !speaks_http2(exchange) || !early_is_whole(exchange)) return false;
    exchange->verdict = YCURL_ANSWERED;
    loop_note_finished(exchange->loop, exchange, -1);
    return true;
}

/// Checks an exchange that waits for more of its body. Ends the wait if the server will not accept more of the body,
/// and makes libcurl detect an end of the response that it may have missed.
static void look_for_end(struct ycurl_exchange *exchange, loop_push push) {
    if (exchange->place != RUNNING || exchange->links[FINISHED].is_listed || ends_refused(exchange)) return;
    // If neither is true, the exchange has continued in the meantime, possibly on another connection.
    bool ends = exchange->early.unwatched || exchange->early.refused;
    if (exchange->feed == FEED_AWAITED && !exchange->receive_paused && ends) {
        if (exchange->head_phase != HEAD_COMPLETE) return loop_note_finished(exchange->loop, exchange, CURLE_GOT_NOTHING);
        // libcurl either treats the response as a reason to stop sending, or requests more of the body and stops
        // watching the socket again. It is asked once for each response, because asking each time would loop forever.
        // Later questions would change nothing: libcurl has read the whole response by then, and only the end of the
        // body or a failure to send can still end the exchange.
        end_wait(exchange);
        exchange->early.asked_again = exchange->early.unwatched;
        ycurl_lib.easy_pause(exchange->easy, CURLPAUSE_CONT);
    }
    if (exchange->head_phase == HEAD_COMPLETE) look_again(exchange, push);
}

/// Records a response whose end libcurl might miss. There are three kinds: a response that makes libcurl stop sending
/// the request body, a response over HTTP/2 before the end of the request body, and a response (7.88) whose head is
/// larger than libcurl's buffer.
void early_note_answer(struct ycurl_exchange *exchange) {
    exchange->early.refused = exchange->body >= YCURL_BODY_BORROWED && info_long(exchange, CURLINFO_RESPONSE_CODE) >= 300;
    bool is_long = exchange->head.count >= RECEIVED_PIECE;
    if (is_long || exchange->early.refused || is_behind(exchange)) early_note_doubt(exchange->loop, exchange);
}

static bool settle_doubt(ycurl_loop *loop, struct ycurl_exchange *exchange) {
    bool was_in_doubt = exchange->early.in_doubt;
    if (was_in_doubt) loop->doubt_count--;
    exchange->early.in_doubt = false;
    return was_in_doubt;
}

void early_look(ycurl_loop *loop, bool socket_moved, loop_push push) {
    // Only the entries that are in the list now are checked, because a check may add an exchange again or remove any
    // exchange.
    size_t left = 0;
    for (struct ycurl_exchange *next = loop->lists[AHEAD].first; next; next = next->links[AHEAD].next) left++;
    struct ycurl_exchange *exchange;
    while (left-- > 0 && (exchange = list_take(loop, AHEAD))) {
        bool is_due = settle_doubt(loop, exchange) || socket_moved || sent(exchange) != exchange->early.sent_at_look;
        if (is_due) look_for_end(exchange, push);
        else list_append(loop, AHEAD, exchange);
    }
}

void early_forget(ycurl_loop *loop, struct ycurl_exchange *gone) {
    settle_doubt(loop, gone);
    list_forget(loop, AHEAD, gone);
}

#endif
