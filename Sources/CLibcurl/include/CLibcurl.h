/// An interface to the system's libcurl for Swift. libcurl is opened at run time and called through typed functions.
///
/// Neither libcurl's headers nor its development package are needed. The numbers are those of libcurl's public and
/// stable ABI (https://curl.se/libcurl/abi.html). On systems other than Linux this header is empty.
#ifndef CLIBCURL_H
#define CLIBCURL_H

#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: The library

/// The result of opening libcurl.
enum ycurl_availability {
    YCURL_AVAILABLE = 0,
    /// libcurl.so.4 is not installed.
    YCURL_MISSING = 1,
    /// libcurl is older than 7.68.
    YCURL_TOO_OLD = 2,
    /// A function is missing, or the global initialization failed.
    YCURL_UNUSABLE = 3,
};

/// Opens libcurl once per process. Later calls return the same result. Any thread may call this function.
int ycurl_open(void);
/// The result of ycurl_open as text, including the name of the package to install.
const char *ycurl_open_message(void);
/// The version of libcurl as 0xXXYYZZ, or 0 if libcurl is not available.
unsigned ycurl_version(void);
/// Returns whether libcurl was built with a feature. `bit` is the feature's bit in curl_version_info.
bool ycurl_has_feature(int bit);
/// Returns the text of a CURLcode.
const char *ycurl_error_text(int code);

/// The features CURL_VERSION_SSL, _ASYNCHDNS, _HTTP2 and _UNIX_SOCKETS.
enum { YCURL_FEATURE_TLS = 1 << 2, YCURL_FEATURE_ASYNC_DNS = 1 << 7, YCURL_FEATURE_HTTP2 = 1 << 16,
       YCURL_FEATURE_UNIX_SOCKETS = 1 << 19 };

/// Returns whether libcurl's TLS library provides the verified certificate chain. OpenSSL does so from 1.1 on.
bool ycurl_shows_chains(void);

/// Returns the time of the monotonic clock in nanoseconds.
int64_t ycurl_now(void);
/// Starts a detached thread. The thread blocks all signals except those of its own faults. Returns 0 or an errno.
int ycurl_start_thread(void (*body)(void *context), void *context);

// MARK: Memory

/// The memory functions that libcurl uses. All memory comes from malloc. Any thread may call these functions.
void *ycurl_malloc(size_t count);
void *ycurl_calloc(size_t number, size_t size);
void *ycurl_realloc(void *piece, size_t count);
char *ycurl_strdup(const char *text);
void ycurl_free(void *piece);
/// The number of freed bytes that the loop of the calling thread keeps, or 0 if no loop runs on this thread.
size_t ycurl_kept_bytes(void);

// MARK: Options for all handles of a transport

enum ycurl_option {
    YCURL_PROXY = 10004,
    YCURL_PROXY_CREDENTIALS = 10006,
    YCURL_CLIENT_CERTIFICATE_FILE = 10025,
    YCURL_KEY_PASSWORD = 10026,
    YCURL_CLIENT_CERTIFICATE_TYPE = 10086,
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

// MARK: An exchange: one easy handle with its buffers, reused for successive requests

typedef struct ycurl_exchange ycurl_exchange;
typedef struct ycurl_loop ycurl_loop;
/// The servers of a transport that have chosen HTTP/1.1. Several loops may share this object.
typedef struct ycurl_servers ycurl_servers;

/// Creates an exchange for one loop. Returns NULL if no memory is available.
ycurl_exchange *ycurl_exchange_create(ycurl_loop *loop);
/// Frees an exchange that is not on a loop.
void ycurl_exchange_destroy(ycurl_exchange *exchange);

/// Sets an option. Returns a CURLcode. libcurl copies strings and blobs.
int ycurl_set_long(ycurl_exchange *exchange, int option, long value);
int ycurl_set_offset(ycurl_exchange *exchange, int option, int64_t value);
int ycurl_set_string(ycurl_exchange *exchange, int option, const char *value);
/// Sets a text option to no value, even if libcurl has a default for it.
int ycurl_clear_string(ycurl_exchange *exchange, int option);
int ycurl_set_blob(ycurl_exchange *exchange, int option, const void *bytes, size_t count);
/// Sets host overrides in the form "host:port:address". The texts are copied and live as long as the exchange.
int ycurl_set_resolve(ycurl_exchange *exchange, const char *const *entries, size_t count);

// MARK: One request

/// The source of a request's body.
enum ycurl_body {
    /// No body and no Content-Length.
    YCURL_BODY_NONE = 0,
    /// No body in the request, and none in the response (HEAD).
    YCURL_BODY_HEAD_ONLY = 1,
    /// Memory that is copied.
    YCURL_BODY_COPIED = 2,
    /// Memory that outlives the exchange.
    YCURL_BODY_BORROWED = 3,
    /// A file descriptor, which the exchange closes, and bytes before and after the file, which are copied.
    YCURL_BODY_FILE = 4,
    /// Pieces that are provided with ycurl_upload_offer.
    YCURL_BODY_FED = 5,
};

struct ycurl_request {
    const char *url;
    const char *method;
    enum ycurl_body body;
    const void *body_bytes;
    int body_file;
    /// The length of the file. The rest of the body is in body_bytes. Its first `body_before` bytes precede the file.
    int64_t body_file_length;
    size_t body_before;
    /// The length of the body, or -1 if unknown. A body of unknown length is sent in chunks.
    int64_t body_length;
    /// The maximum size of the response's body in bytes, or -1 for no limit.
    int64_t body_limit;
    /// The maximum size of the response's head in bytes, including interim responses and trailers.
    size_t head_limit;
    /// The number of bytes that may wait for the caller before the transfer pauses. If 0, the whole body is collected.
    size_t stream_window;
    /// Whether the body of a redirect is skipped.
    bool skip_redirect_body;
    /// Whether the request is sent at most once, even if an idle connection turns out to be dead.
    bool once;
    /// Whether the request is sent on a new connection.
    bool fresh;
    /// Whether the server may choose HTTP/2. Only over HTTP/2 can a server refuse a request without processing it.
    bool may_be_multiplexed;
    /// Whether the request waits for a connection that another request opens to the server, to share it over HTTP/2.
    bool shares;
    /// Whether the host is reached without the proxy; 0 for no, 1 for yes, -1 if no proxy is set.
    int bypasses_proxy;
    /// Whether to request compression and to decompress the response.
    bool decompress;
    bool report_progress;
    /// The connect timeout in milliseconds, or 0 for none. libcurl divides it among the addresses of a host.
    int64_t connect_timeout_ms;
    /// The deadlines for the connection and for the whole exchange, in nanoseconds of ycurl_now, or INT64_MAX for none.
    int64_t connect_deadline, deadline;
    /// The idle timeout in nanoseconds, or 0 for none.
    int64_t idle_limit;
    /// The caller's pointer, returned by ycurl_exchange_owner.
    void *owner;
    /// A function that is called on the loop's thread just before the request is first sent. If it returns false, the
    /// exchange ends.
    bool (*may_send)(void *owner);
    /// The head of a request that asks for another protocol, as it is sent. NULL for every other request.
    ///
    /// The connection of such a request serves no other request. After a 101 (Switching Protocols), the bytes of the
    /// other protocol are received as the body of a streamed response and sent with ycurl_connection_send. Any other
    /// response ends the exchange after its head.
    const void *opening;
    size_t opening_count;
};

/// Discards the header lines of the previous request. Without this call, the next request reuses them.
void ycurl_forget_headers(ycurl_exchange *exchange);
/// Adds a header line to the request that ycurl_prepare will complete.
void ycurl_add_header(ycurl_exchange *exchange, const char *name, size_t name_count, const char *value,
                      size_t value_count);
/// The maximum size in bytes of a request's head with a copied body. libcurl sends no larger head.
enum { YCURL_MOST_REQUEST_HEAD = (1 << 20) - (4 << 10) };

/// Prepares the exchange for a loop. Returns a CURLcode. 100 means that YCURL_MOST_REQUEST_HEAD is exceeded.
int ycurl_prepare(ycurl_exchange *exchange, const struct ycurl_request *request);
void *ycurl_exchange_owner(const ycurl_exchange *exchange);

// MARK: The response

/// The raw head of the final response. Valid until the next request.
const char *ycurl_head(const ycurl_exchange *exchange, size_t *count);
/// Returns whether the final head is complete.
bool ycurl_has_head(const ycurl_exchange *exchange);
long ycurl_status(const ycurl_exchange *exchange);
/// The body collected so far. The exchange still owns the memory.
const void *ycurl_body_bytes(const ycurl_exchange *exchange, size_t *count);
/// Hands over the body collected so far. The caller must free the memory. Returns NULL if the body is empty.
void *ycurl_body_take(ycurl_exchange *exchange, size_t *count);
/// The capacity of the collected body in bytes.
size_t ycurl_body_capacity(const ycurl_exchange *exchange);
/// Hands the memory of the collected body over to the caller, and collects later bytes in `spare`. `spare` was
/// allocated by malloc with this capacity, and the exchange now owns it. Pass NULL and 0 for no spare memory.
void *ycurl_body_swap(ycurl_exchange *exchange, void *spare, size_t capacity);
/// Discards the body collected so far, and keeps its memory for later bytes.
void ycurl_body_clear(ycurl_exchange *exchange);
/// Sets the number of bytes that may be collected from now on before the transfer pauses. Returns whether the transfer
/// is paused.
bool ycurl_body_open_window(ycurl_exchange *exchange, size_t window);
/// Continues to receive after a pause. If this fails, ycurl_loop_next_finished returns the exchange.
void ycurl_body_resume(ycurl_exchange *exchange);

// MARK: A body that is fed

/// Provides the next bytes of the body, which are copied. A count of 0 ends the body. Returns a CURLcode.
int ycurl_upload_offer(ycurl_exchange *exchange, const void *bytes, size_t count);

// MARK: A connection that has changed its protocol

/// Sends bytes, which are copied. YCURL_UPLOAD_HUNGRY reports that they were sent. Until then, no more bytes are
/// accepted. Returns a CURLcode.
int ycurl_connection_send(ycurl_exchange *exchange, const void *bytes, size_t count);

// MARK: Results

/// The name of a constant in Swift.
#define YCURL_SWIFT(name) __attribute__((swift_name(name)))

/// The reason why a callback or a deadline of Switchyard ended the exchange.
enum __attribute__((enum_extensibility(closed))) ycurl_verdict {
    YCURL_NO_VERDICT YCURL_SWIFT("none") = 0,
    YCURL_HEAD_TOO_LARGE YCURL_SWIFT("headTooLarge") = 1,
    YCURL_BODY_TOO_LARGE YCURL_SWIFT("bodyTooLarge") = 2,
    YCURL_UPLOAD_UNREADABLE YCURL_SWIFT("uploadUnreadable") = 3,
    YCURL_UPLOAD_SHORT YCURL_SWIFT("uploadShort") = 4,
    /// libcurl would send the request again, but this is not allowed, or is impossible because its body has been used
    /// up.
    YCURL_WOULD_SEND_TWICE YCURL_SWIFT("wouldSendTwice") = 5,
    YCURL_DEADLINE_PASSED YCURL_SWIFT("deadlinePassed") = 6,
    YCURL_IDLE_TOO_LONG YCURL_SWIFT("idleTooLong") = 7,
    YCURL_NO_MEMORY YCURL_SWIFT("noMemory") = 8,
    YCURL_NOT_CONNECTED YCURL_SWIFT("notConnected") = 9,
    YCURL_UPLOAD_CHANGED YCURL_SWIFT("uploadChanged") = 10,
    /// The needed part of the response is complete. The exchange was ended because libcurl would send the request
    /// again, as after a 417 (Expectation Failed), or wait for the body of a redirect.
    YCURL_ANSWERED YCURL_SWIFT("answered") = 11,
    YCURL_LENGTH_CONTRADICTED YCURL_SWIFT("lengthContradicted") = 12,
    /// The chain is trusted, but ycurl_judge accepts none of its certificates.
    YCURL_NOT_PINNED YCURL_SWIFT("notPinned") = 13,
    /// The caller withdrew the request before it was sent.
    YCURL_WITHDRAWN YCURL_SWIFT("withdrawn") = 14,
    /// The server responded with 101 to a request that had not asked for another protocol.
    YCURL_UNASKED_PROTOCOL YCURL_SWIFT("unaskedProtocol") = 15,
    /// The server has refused the request without processing it (RFC 9113 section 8.7). The request cannot be sent
    /// again, or has already been sent again.
    YCURL_REFUSED YCURL_SWIFT("refused") = 16,
};

struct ycurl_diagnosis {
    enum ycurl_verdict verdict;
    /// The errno of the failed socket call, or of a failed read of the request's body.
    int os_error;
    /// The status of the proxy's response to CONNECT, or 0 if there was none.
    long connect_status;
    /// The reason why a SOCKS proxy made no connection (CURLproxycode). 0 if there is none, or if libcurl is older than
    /// 7.73.
    long proxy_error;
    /// libcurl's message for the failure, or an empty text if there is none. Valid until the next request.
    const char *words;
    bool head_complete;
    /// Whether the final head contains a Transfer-Encoding.
    bool chunked;
    bool request_sent;
    bool connected;
};

struct ycurl_metrics {
    /// The time of each step in microseconds from the start, or 0 for steps that did not happen.
    int64_t name_lookup, connected, secured, first_byte, total;
    int64_t sent, received;
    bool reused;
    /// The HTTP version as CURL_HTTP_VERSION_*: 2 is 1.1, 3 is 2, 30 is 3.
    long http_version;
};

struct ycurl_progress {
    int64_t sent, to_send, received, to_receive;
};

void ycurl_diagnose(ycurl_exchange *exchange, struct ycurl_diagnosis *diagnosis);
void ycurl_measure(ycurl_exchange *exchange, struct ycurl_metrics *metrics);
void ycurl_progress_read(const ycurl_exchange *exchange, struct ycurl_progress *progress);

// MARK: The loop: one multi handle and its epoll set, used by one thread

/// Creates a loop. Returns NULL if memory or descriptors are exhausted. errno has the reason.
ycurl_loop *ycurl_loop_create(void);
/// Closes all connections permanently. At this time, the loop may have no exchanges except abandoned ones.
void ycurl_loop_end(ycurl_loop *loop);
/// Frees a loop. If the loop has not been ended with ycurl_loop_end, this function ends it first.
void ycurl_loop_destroy(ycurl_loop *loop);
int ycurl_loop_set(ycurl_loop *loop, int option, long value);
/// Returns NULL if no memory is available.
ycurl_servers *ycurl_servers_create(void);
void ycurl_servers_destroy(ycurl_servers *servers);
/// Makes a loop remember servers in `servers`, which must outlive the loop. Call this function before the
/// first request.
void ycurl_loop_remember(ycurl_loop *loop, ycurl_servers *servers);
/// Returns whether a certificate (DER) is accepted. The usual checks have already accepted its chain. The function is
/// called on the loop's thread.
typedef bool (*ycurl_judge)(const void *context, const void *certificate, size_t count);
/// Makes the loop's exchanges connect only if `accepts` returns true for at least one certificate of the chain. Call it
/// before the first exchange is created, and only if ycurl_shows_chains returns true. The context must outlive the
/// loop. The chains of proxies over TLS are checked as well.
void ycurl_loop_judge_chains(ycurl_loop *loop, ycurl_judge accepts, const void *context);
/// Closes all connections. Call this function only while no exchange runs.
void ycurl_loop_close_connections(ycurl_loop *loop);

/// Starts a prepared exchange. Returns a CURLMcode.
int ycurl_loop_add(ycurl_loop *loop, ycurl_exchange *exchange);
/// Ends an exchange and frees it. No further events are reported.
///
/// During a name lookup, libcurl cannot release a handle without waiting. Such an exchange is abandoned instead: it
/// opens no connection and is freed when the lookup ends.
void ycurl_loop_discard(ycurl_loop *loop, ycurl_exchange *exchange);

/// Updates the loop's clock at the start of its thread. The clock is constant between steps, and the loop may have been
/// created long ago.
void ycurl_loop_begin(ycurl_loop *loop);
/// Sends the requests that have been added.
void ycurl_loop_push(ycurl_loop *loop);
/// Announces a wait. From now on, ycurl_loop_wake wakes the loop. Check once more for work after this call and before
/// ycurl_loop_step.
void ycurl_loop_will_wait(ycurl_loop *loop);
/// The result of ycurl_loop_step if the process was stopped during the step. Nothing has been read and no deadline has
/// been checked yet.
enum { YCURL_WAS_STOPPED = -1 };
/// Advances all exchanges. Waits up to `wait_ms` for an event, or without limit if `wait_ms` is -1. Returns 0, an
/// errno, or YCURL_WAS_STOPPED. After YCURL_WAS_STOPPED, ycurl_loop_catch_up must be called.
int ycurl_loop_step(ycurl_loop *loop, int64_t wait_ms);
/// Reads the data that arrived while the process was stopped, and then checks the deadlines. Returns 0, or an errno.
int ycurl_loop_catch_up(ycurl_loop *loop);
/// Ends the announced wait. Costs nothing if no wait was announced. Of all functions of a loop, only this one may be
/// called by any thread.
void ycurl_loop_wake(ycurl_loop *loop);

/// The events of an exchange for the caller, as a set.
enum ycurl_event {
    /// The head of a streamed response is complete.
    YCURL_HEAD_ARRIVED = 1,
    /// Bytes of a streamed response are available.
    YCURL_BODY_ARRIVED = 2,
    /// More of a fed body is needed.
    YCURL_UPLOAD_HUNGRY = 4,
    YCURL_PROGRESSED = 8,
};

/// Returns the next exchange with events, or NULL if there is none.
ycurl_exchange *ycurl_loop_next_event(ycurl_loop *loop, unsigned *events);
/// Returns the next ended exchange with its CURLcode, or NULL if there is none. A code of -1 means that a deadline has
/// passed.
///
/// With code 0, the exchange has left the loop and may be reused. With any other code, it must be discarded.
ycurl_exchange *ycurl_loop_next_finished(ycurl_loop *loop, int *code);

#endif
#endif
