/// Requests that an HTTP/2 server has certainly not processed (RFC 9113 section 8.7).
///
/// If a stream was refused (REFUSED_STREAM) or requires HTTP/1.1, libcurl itself sends the request again on a new
/// connection, whatever the method. Its result code does not contain the reason. A GOAWAY that excludes the request's
/// stream ends the exchange with CURLE_HTTP2 (7.88), or is treated as REFUSED_STREAM. Only libcurl's messages
/// distinguish these cases from a lost connection. If a version uses other messages, the request counts as sent.
///
/// On an idle connection, libcurl reports a refused stream as a dead connection. The connection is not dead if it is
/// still open, TLS has not ended and libcurl has reported no failure. Every other end of a stream lacks one of these
/// three signs.
///
/// libcurl records a refusal in its handle and clears the record only when it reports the refusal (7.88). If it does
/// not report a refusal, libcurl treats the next lost connection as a refused stream, even in a later request, and
/// sends that request again. The same three signs are therefore required there.
#if defined(__linux__)

#include "exchange.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#define REFUSED "REFUSED_STREAM, retrying"
#define RETRIED "Connection died, retrying"
#define DOWNGRADED "Downgrades to HTTP/1.1"
#define STREAM "Using Stream ID: "
#define OPENED "] OPENED stream"
#define LAST "last_stream="

static bool begins(const char *words, const char *with) { return strncmp(words, with, strlen(with)) == 0; }

void refusal_forget_request(struct ycurl_exchange *exchange) {
    exchange->refusal.count++;
    exchange->refusal.goes_away = false;
    exchange->was_sent = false;
}

/// Returns the number of the stream. Old versions write it in hexadecimal. If the digits can be read in both ways, the
/// smaller number is the safe one.
static unsigned long stream_number(const char *words) {
    char *end;
    unsigned long number = strtoul(words, &end, 10);
    return (*end >= 'a' && *end <= 'f') ? strtoul(words, NULL, 16) : number;
}

/// Records a GOAWAY for the loop. It concerns all exchanges of the connection, but libcurl reports it to only one of
/// them.
static void note_goodbye(struct ycurl_exchange *exchange, unsigned long last) {
    ycurl_loop *loop = exchange->loop;
    exchange->refusal.goes_away = true;
    exchange->refusal.last = last;
    if (!exchange->local_port) return;
    size_t most = sizeof loop->goodbyes / sizeof loop->goodbyes[0];
    loop->goodbyes[loop->goodbye_count++ % most] =
        (struct goodbye){exchange->origin, exchange->local_port, exchange->remote_port, last, loop->now};
}

/// Returns whether the connection on which the request was sent is open, so that its server may still respond on it.
static bool stands(struct ycurl_exchange *exchange) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    int socket = socket_of(exchange);
    bool is_established = socket >= 0 && getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                          info.tcpi_state == TCP_ESTABLISHED;
    return is_established && chain_goes_on(exchange);
}

/// Returns whether the stream of a request was refused. This is the case if the stream ended without a message while
/// its connection stayed open.
static bool was_refused(struct ycurl_exchange *exchange) {
    return exchange->refusal.stream && !exchange->words[0] && !exchange->head_total && stands(exchange);
}

/// Returns whether libcurl's message states that the server has not processed the request.
static bool tell_of_refusal(struct ycurl_exchange *exchange, const char *words) {
    // A server that has sent an interim response has begun to process the request.
    if (begins(words, DOWNGRADED)) return !exchange->head_total;
    if (begins(words, REFUSED)) {
        bool is_doubtful = exchange->notes_refusal;
        exchange->notes_refusal = false;
        return !is_doubtful || was_refused(exchange);
    }
    if (!begins(words, RETRIED)) return false;
    exchange->notes_refusal = true;
    return was_refused(exchange);
}

static void read_words(struct ycurl_exchange *exchange, const char *words) {
    const char *last, *opened;
    if (tell_of_refusal(exchange, words)) return refusal_forget_request(exchange);
    if (begins(words, STREAM)) exchange->refusal.stream = stream_number(words + strlen(STREAM));
    else if ((opened = strstr(words, OPENED))) {
        while (opened > words && opened[-1] >= '0' && opened[-1] <= '9') opened--;
        exchange->refusal.stream = strtoul(opened, NULL, 10);
    } else if (strstr(words, "GOAWAY") && (last = strstr(words, LAST)))
        note_goodbye(exchange, strtoul(last + strlen(LAST), NULL, 10));
}

int refusal_note_words(void *easy, int kind, char *words, size_t count, void *context) {
    (void)easy;
    struct ycurl_exchange *exchange = context;
    char line[200];
    if (kind != CURLINFO_TEXT || !exchange->was_sent || exchange->head_phase != HEAD_AWAITED) return 0;
    if (count >= sizeof line) count = sizeof line - 1;
    memcpy(line, words, count);
    line[count] = 0;
    read_words(exchange, line);
    return 0;
}

/// The server of a new HTTP/2 connection refuses requests beyond its limit of concurrent streams. libcurl knows the limit
/// when the server's settings have arrived, which is before any response. A fed body cannot be sent again, so it is not
/// sent on a connection of another request before that. On a connection of its own, it is the first request.
bool refusal_is_risk(struct ycurl_exchange *exchange) {
    bool has_own = exchange->connecting == SOCKET_OPENED || exchange->needs_own_connection;
    if (exchange->body != YCURL_BODY_FED || !exchange->may_be_multiplexed || exchange->was_sent || has_own) return false;
    int socket = socket_of(exchange);
    return socket >= 0 && !exchange->loop->sockets[socket].has_responded;
}

bool refusal_holds(struct ycurl_exchange *exchange) {
    if (!exchange->was_sent || exchange->head_total || !exchange->refusal.stream) return false;
    const ycurl_loop *loop = exchange->loop;
    size_t most = sizeof loop->goodbyes / sizeof loop->goodbyes[0];
    for (size_t i = 0; i < most && !exchange->refusal.goes_away; i++) {
        const struct goodbye *goodbye = &loop->goodbyes[i];
        if (!goodbye->local_port || goodbye->origin != exchange->origin ||
            goodbye->local_port != exchange->local_port || goodbye->remote_port != exchange->remote_port ||
            goodbye->heard < exchange->sent_at)
            continue;
        exchange->refusal.goes_away = true;
        exchange->refusal.last = goodbye->last;
    }
    return exchange->refusal.goes_away && exchange->refusal.stream > exchange->refusal.last;
}

#endif
