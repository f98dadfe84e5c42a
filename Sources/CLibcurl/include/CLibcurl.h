/// The system's libcurl for Swift: opened at run time, called through typed functions.
///
/// Nothing here needs libcurl's headers or its development package. The numbers are those of libcurl's public and
/// stable ABI (https://curl.se/libcurl/abi.html). On systems other than Linux this header is empty.
#ifndef CLIBCURL_H
#define CLIBCURL_H

#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: The library

/// What came of opening libcurl.
enum ycurl_availability {
    YCURL_AVAILABLE = 0,
    /// libcurl.so.4 is not installed.
    YCURL_MISSING = 1,
    /// Older than 7.68.
    YCURL_TOO_OLD = 2,
    /// A function is missing, or its global set-up failed.
    YCURL_UNUSABLE = 3,
};

/// Opens libcurl once per process and answers the same ever after. Any thread may call it.
int ycurl_open(void);
/// What ycurl_open found, in words and with what to install.
const char *ycurl_open_message(void);
/// The version as 0xXXYYZZ; 0 when it is not available.
unsigned ycurl_version(void);
/// Whether a feature was built in, by its bit in curl_version_info.
bool ycurl_has_feature(int bit);
/// The text of a CURLcode.
const char *ycurl_error_text(int code);

/// CURL_VERSION_SSL, _ASYNCHDNS, _HTTP2 and _UNIX_SOCKETS.
enum { YCURL_FEATURE_TLS = 1 << 2, YCURL_FEATURE_ASYNC_DNS = 1 << 7, YCURL_FEATURE_HTTP2 = 1 << 16,
       YCURL_FEATURE_UNIX_SOCKETS = 1 << 19 };

/// Whether the TLS library beneath libcurl shows the chain that it has checked: OpenSSL does from 1.1 on.
bool ycurl_shows_chains(void);

/// Nanoseconds of the monotonic clock.
int64_t ycurl_now(void);
/// Starts a detached thread with all signals blocked but those of its own faults. Returns 0 or an errno.
int ycurl_start_thread(void (*body)(void *context), void *context);

// MARK: Memory

/// What libcurl takes memory with and gives it back; each piece is malloc's. Any thread may call them.
void *ycurl_malloc(size_t count);
void *ycurl_calloc(size_t number, size_t size);
void *ycurl_realloc(void *piece, size_t count);
char *ycurl_strdup(const char *text);
void ycurl_free(void *piece);
/// Bytes that the loop of the calling thread keeps; 0 where none runs.
size_t ycurl_kept_bytes(void);

// MARK: Options that one transport sets on all its handles

enum ycurl_option {
    YCURL_PROXY = 10004,
    YCURL_PROXY_CREDENTIALS = 10006,
    YCURL_CLIENT_CERTIFICATE_FILE = 10025,
    YCURL_KEY_PASSWORD = 10026,
    YCURL_TLS_VERSION = 32,
    YCURL_CA_FILE = 10065,
    YCURL_HTTP_VERSION = 84,
    YCURL_CLIENT_KEY_FILE = 10087,
    YCURL_DNS_CACHE_SECONDS = 92,
    YCURL_CA_FOLDER = 10097,
    YCURL_PROXY_TYPE = 101,
    YCURL_IP_VERSION = 113,
    YCURL_SEND_SPEED = 30145,
    YCURL_RECEIVE_SPEED = 30146,
    YCURL_NO_PROXY = 10177,
    YCURL_RESOLVE = 10203,
    YCURL_REVOCATION_LIST = 10169,
    YCURL_STAPLED_STATUS = 232,
    YCURL_PINNED_KEYS = 10230,
    YCURL_UNIX_SOCKET = 10231,
    YCURL_WAIT_FOR_MULTIPLEXING = 237,
    YCURL_PROXY_CA_FILE = 10246,
    YCURL_PROXY_CA_FOLDER = 10247,
    YCURL_PROXY_TLS_VERSION = 250,
    YCURL_MAXIMUM_AGE_SECONDS = 288,
    YCURL_CLIENT_CERTIFICATE_DATA = 40291,
    YCURL_CLIENT_KEY_DATA = 40292,
    YCURL_CA_DATA = 40309,
    YCURL_PROXY_CA_DATA = 40310,
};

enum ycurl_loop_option {
    YCURL_LOOP_IDLE_CONNECTIONS = 6,
    YCURL_LOOP_HOST_CONNECTIONS = 7,
    YCURL_LOOP_ALL_CONNECTIONS = 13,
    YCURL_LOOP_CONCURRENT_STREAMS = 16,
};

// MARK: An exchange: one easy handle with its buffers, used for one request after the other

typedef struct ycurl_exchange ycurl_exchange;
typedef struct ycurl_loop ycurl_loop;

/// Creates an exchange for use on one loop. NULL when memory is short.
ycurl_exchange *ycurl_exchange_create(ycurl_loop *loop);
/// Frees an exchange that is on no loop.
void ycurl_exchange_destroy(ycurl_exchange *exchange);

/// Sets an option; the result is a CURLcode. Strings and blobs are copied by libcurl.
int ycurl_set_long(ycurl_exchange *exchange, int option, long value);
int ycurl_set_offset(ycurl_exchange *exchange, int option, int64_t value);
int ycurl_set_string(ycurl_exchange *exchange, int option, const char *value);
/// Takes back what a text option says, libcurl's own default too.
int ycurl_clear_string(ycurl_exchange *exchange, int option);
int ycurl_set_blob(ycurl_exchange *exchange, int option, const void *bytes, size_t count);
/// Sets "host:port:address" entries; the texts are copied and live as long as the exchange.
int ycurl_set_resolve(ycurl_exchange *exchange, const char *const *entries, size_t count);

// MARK: One request

/// Where the body of a request comes from.
enum ycurl_body {
    /// None: no Content-Length either.
    YCURL_BODY_NONE = 0,
    /// None, and the response has none either (HEAD).
    YCURL_BODY_HEAD_ONLY = 1,
    /// Memory that is copied.
    YCURL_BODY_COPIED = 2,
    /// Memory that outlives the exchange.
    YCURL_BODY_BORROWED = 3,
    /// A file descriptor, which the exchange closes, and bytes around what it holds, which are copied.
    YCURL_BODY_FILE = 4,
    /// Handed over piece by piece with ycurl_upload_offer.
    YCURL_BODY_FED = 5,
};

struct ycurl_request {
    const char *url;
    const char *method;
    enum ycurl_body body;
    const void *body_bytes;
    int body_file;
    /// The bytes of the file; the rest of the body is in body_bytes, `body_before` of it in front of the file.
    int64_t body_file_length;
    size_t body_before;
    /// -1 when unknown: sent chunked.
    int64_t body_length;
    /// Largest response body in bytes, -1 for no limit.
    int64_t body_limit;
    /// Largest response head in bytes, with interim responses and trailers.
    size_t head_limit;
    /// Bytes that may wait to be taken before the transfer is paused; 0 collects the whole body.
    size_t stream_window;
    /// Whether the body of an answer that points elsewhere is left out.
    bool skip_redirect_body;
    /// Sent at most once, also when a kept-alive connection turns out to be dead.
    bool once;
    /// Sent on a new connection, whatever connections are kept.
    bool fresh;
    /// Whether the server may choose HTTP/2, so that it can refuse a request unprocessed.
    bool may_be_multiplexed;
    /// Whether the host is reached without the proxy; 0 for no, 1 for yes, -1 where no proxy is set.
    int bypasses_proxy;
    /// Whether to ask for compression and to undo it.
    bool decompress;
    bool report_progress;
    /// How long connecting may take: 0 for none. libcurl shares it out among the addresses of a host.
    int64_t connect_timeout_ms;
    /// When the connection has to stand and when all has to be over: in nanoseconds of ycurl_now; INT64_MAX for none.
    int64_t connect_deadline, deadline;
    /// Silence on the wire in nanoseconds; 0 for none.
    int64_t idle_limit;
    /// The caller's pointer, given back by ycurl_exchange_owner.
    void *owner;
    /// Asked on the loop's thread just before the request is sent for the first time; one that must not be is ended.
    bool (*may_send)(void *owner);
    /// The head of a request that asks for another protocol, as it is sent; NULL for every other request.
    ///
    /// Its connection serves nothing else. After a 101 (Switching Protocols) the bytes of the other protocol come as the
    /// body of a streamed response and go out with ycurl_connection_send. Any other response ends the exchange behind its head.
    const void *opening;
    size_t opening_count;
};

/// Forgets the header lines of the request before, which otherwise are this one's too.
void ycurl_forget_headers(ycurl_exchange *exchange);
/// Adds a header line to the request that ycurl_prepare will finish.
void ycurl_add_header(ycurl_exchange *exchange, const char *name, size_t name_count, const char *value,
                      size_t value_count);
/// libcurl sends no request whose head, with a body that is copied, is larger.
enum { YCURL_MOST_REQUEST_HEAD = (1 << 20) - (4 << 10) };

/// Makes the exchange ready for a loop. Returns a CURLcode; 100 is YCURL_MOST_REQUEST_HEAD exceeded.
int ycurl_prepare(ycurl_exchange *exchange, const struct ycurl_request *request);
void *ycurl_exchange_owner(const ycurl_exchange *exchange);

// MARK: The response

/// The raw head of the final response; valid until the next request.
const char *ycurl_head(const ycurl_exchange *exchange, size_t *count);
/// Whether the final head has come to its end.
bool ycurl_has_head(const ycurl_exchange *exchange);
long ycurl_status(const ycurl_exchange *exchange);
/// The body collected so far, still owned by the exchange.
const void *ycurl_body_bytes(const ycurl_exchange *exchange, size_t *count);
/// The body collected so far, owned by the caller from now on (free). NULL when it is empty.
void *ycurl_body_take(ycurl_exchange *exchange, size_t *count);
/// The bytes for which the collected body has room.
size_t ycurl_body_capacity(const ycurl_exchange *exchange);
/// Hands out the memory of the collected body, and collects what comes in `spare`, from malloc, of so many bytes (NULL
/// and 0 for none); both change hands.
void *ycurl_body_swap(ycurl_exchange *exchange, void *spare, size_t capacity);
/// Forgets the body collected so far and keeps its memory for what comes.
void ycurl_body_clear(ycurl_exchange *exchange);
/// Bytes that may be collected from now on before the transfer pauses. Answers whether it is paused.
bool ycurl_body_open_window(ycurl_exchange *exchange, size_t window);
/// Goes on receiving after a pause; an exchange that cannot is among the finished ones next.
void ycurl_body_resume(ycurl_exchange *exchange);

// MARK: A body that is fed

/// Hands over the next bytes (copied); count 0 ends the body. Returns a CURLcode.
int ycurl_upload_offer(ycurl_exchange *exchange, const void *bytes, size_t count);

// MARK: A connection that has changed its protocol

/// Sends bytes (copied); YCURL_UPLOAD_HUNGRY says that they have gone, and no more are taken before. Returns a CURLcode.
int ycurl_connection_send(ycurl_exchange *exchange, const void *bytes, size_t count);

// MARK: What happened

/// Why one of our callbacks ended the transfer.
enum ycurl_verdict {
    YCURL_NO_VERDICT = 0,
    YCURL_HEAD_TOO_LARGE = 1,
    YCURL_BODY_TOO_LARGE = 2,
    YCURL_UPLOAD_UNREADABLE = 3,
    YCURL_UPLOAD_SHORT = 4,
    /// libcurl would send the request again, which must not be, or cannot since its body is gone.
    YCURL_WOULD_SEND_TWICE = 5,
    YCURL_DEADLINE_PASSED = 6,
    YCURL_IDLE_TOO_LONG = 7,
    YCURL_NO_MEMORY = 8,
    YCURL_NOT_CONNECTED = 9,
    YCURL_UPLOAD_CHANGED = 10,
    /// There is all of the answer that is wanted: libcurl would ask again, as it does after a 417 (Expectation Failed), or
    /// wait for the body of a redirect.
    YCURL_ANSWERED = 11,
    YCURL_LENGTH_CONTRADICTED = 12,
    /// The chain is trusted, and ycurl_judge knows none of its certificates.
    YCURL_NOT_PINNED = 13,
    /// The caller wants it sent no more.
    YCURL_WITHDRAWN = 14,
    /// 101 to a request that has not asked for another protocol.
    YCURL_UNASKED_PROTOCOL = 15,
    /// The server has refused the request unprocessed (RFC 9113 section 8.7) and it cannot be sent again, or has been.
    YCURL_REFUSED = 16,
};

struct ycurl_diagnosis {
    int verdict;
    /// errno of the failed socket call, and of a failed read of the request's body.
    int os_error;
    /// The proxy's answer to CONNECT, 0 when there was none.
    long connect_status;
    /// CURLproxycode: why a SOCKS proxy made no connection; 0 when there is no reason, or libcurl is older than 7.73.
    long proxy_error;
    /// libcurl's words for the failure; empty when it has none. Valid until the next request.
    const char *words;
    bool head_complete;
    /// Whether the final head names a Transfer-Encoding.
    bool chunked;
    bool request_sent;
    bool connected;
};

struct ycurl_metrics {
    /// Microseconds from the start; 0 for what did not happen.
    int64_t name_lookup, connected, secured, first_byte, total;
    int64_t sent, received;
    bool reused;
    /// CURL_HTTP_VERSION_*: 2 is 1.1, 3 is 2, 30 is 3.
    long http_version;
};

struct ycurl_progress {
    int64_t sent, to_send, received, to_receive;
};

void ycurl_diagnose(ycurl_exchange *exchange, struct ycurl_diagnosis *diagnosis);
void ycurl_measure(ycurl_exchange *exchange, struct ycurl_metrics *metrics);
void ycurl_progress_read(const ycurl_exchange *exchange, struct ycurl_progress *progress);

// MARK: The loop: one multi handle and its epoll set, used by one thread

/// NULL when memory or descriptors are short; errno says which.
ycurl_loop *ycurl_loop_create(void);
/// Closes all connections for good; no exchange may be on it any more but abandoned ones.
void ycurl_loop_end(ycurl_loop *loop);
/// Frees a loop; ends it first, unless that was done.
void ycurl_loop_destroy(ycurl_loop *loop);
int ycurl_loop_set(ycurl_loop *loop, int option, long value);
/// Asks about a certificate (DER) of a chain that the usual checks have accepted; called on the loop's thread.
typedef bool (*ycurl_judge)(const void *context, const void *certificate, size_t count);
/// Lets the loop's exchanges connect only where one certificate of the chain is accepted. Before the first exchange is
/// created, and where ycurl_shows_chains only; the context outlives the loop. Judges proxies over TLS as well.
void ycurl_loop_judge_chains(ycurl_loop *loop, ycurl_judge accepts, const void *context);
/// Closes all connections. Only while no exchange runs.
void ycurl_loop_close_connections(ycurl_loop *loop);

/// Starts a prepared exchange. Returns a CURLMcode.
int ycurl_loop_add(ycurl_loop *loop, ycurl_exchange *exchange);
/// Ends an exchange and frees it, without another word from it.
///
/// While libcurl looks up a name it cannot let go of a handle without waiting; such an exchange is abandoned instead:
/// it opens no connection any more and is freed when the lookup is over.
void ycurl_loop_discard(ycurl_loop *loop, ycurl_exchange *exchange);

/// Begins: the loop's clock stands still between steps, and the loop may have been made long ago.
void ycurl_loop_begin(ycurl_loop *loop);
/// Sends what has been added.
void ycurl_loop_push(ycurl_loop *loop);
/// Announces a wait: from now on ycurl_loop_wake wakes. Look once more for work between this and the step.
void ycurl_loop_will_wait(ycurl_loop *loop);
/// What ycurl_loop_step returns when the process was stopped meanwhile: nothing has been read or judged yet.
enum { YCURL_WAS_STOPPED = -1 };
/// Moves everything that can move; waits up to `wait_ms` for something (-1: until it comes). Returns 0, an errno, or
/// YCURL_WAS_STOPPED, after which ycurl_loop_catch_up has to be called.
int ycurl_loop_step(ycurl_loop *loop, int64_t wait_ms);
/// Reads what has arrived while the process was stopped, and only then judges the time. Returns 0, or an errno.
int ycurl_loop_catch_up(ycurl_loop *loop);
/// Ends the wait that was announced; costs nothing when there is none. The only call that any thread may make.
void ycurl_loop_wake(ycurl_loop *loop);

/// What an exchange wants its owner to look at, as a set.
enum ycurl_event {
    /// The head of a streamed response is complete.
    YCURL_HEAD_ARRIVED = 1,
    /// Bytes of a streamed response wait to be taken.
    YCURL_BODY_ARRIVED = 2,
    /// More of a fed body is wanted.
    YCURL_UPLOAD_HUNGRY = 4,
    YCURL_PROGRESSED = 8,
};

/// The next exchange with events, NULL when there is none.
ycurl_exchange *ycurl_loop_next_event(ycurl_loop *loop, unsigned *events);
/// The next exchange that has ended with its CURLcode (-1: a deadline has passed), NULL when there is none.
///
/// Ended well (code 0) it is off the loop and may be used again; otherwise it has to be discarded.
ycurl_exchange *ycurl_loop_next_finished(ycurl_loop *loop, int *code);

#endif
#endif
