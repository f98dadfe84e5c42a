/// The internal state of an exchange and of a loop. Private to this target.
#ifndef CLIBCURL_EXCHANGE_H
#define CLIBCURL_EXCHANGE_H

#include "connection.h"

#include <stdatomic.h>
#include <time.h>

/// A block of memory that grows as bytes are appended.
struct buffer {
    char *bytes;
    size_t count, capacity;
};

/// Makes room for `more` bytes. Returns false if no memory is available.
bool buffer_reserve(struct buffer *buffer, size_t more);
bool buffer_append(struct buffer *buffer, const void *bytes, size_t count);
void buffer_free(struct buffer *buffer);

/// The lists of a loop that an exchange may be in.
enum { EVENTS, FINISHED, AHEAD, LISTS };

/// The links of an exchange in one of the lists.
struct list_link {
    struct ycurl_exchange *next;
    bool is_listed;
};

/// The codings of a response body.
struct codings {
    unsigned count;
    bool names_gzip, names_unknown;
};

/// The state of an exchange for its caller.
enum place {
    /// Owned by the caller.
    IDLE,
    /// Running in libcurl.
    RUNNING,
    /// Given up by the caller during a name lookup. libcurl can release the exchange only when the lookup ends.
    ABANDONED,
};

/// The progress of an exchange in opening a connection. On a reused connection, the value stays UNCONNECTED.
enum connecting { UNCONNECTED, NAME_LOOKED_UP, SOCKET_OPENED };

/// The progress of the final response's head. Interim responses and trailers do not change it.
enum head_phase { HEAD_AWAITED, HEAD_BEGUN, HEAD_COMPLETE };

/// The state of a body whose pieces the caller provides.
enum feed {
    FEED_GOES_ON,
    /// libcurl waits for more of the body.
    FEED_AWAITED,
    /// The body has ended.
    FEED_ENDED,
};

/// The state of a response that arrived before the end of the request's body.
struct early {
    /// Whether libcurl no longer watches the socket, neither for reading nor for writing.
    bool unwatched;
    /// Whether libcurl has been asked whether the response is a reason to stop sending.
    bool asked_again;
    /// Whether the response has arrived and makes libcurl stop sending.
    bool refused;
    /// Whether the response may have ended without libcurl noticing it, or no more of it will arrive.
    bool in_doubt;
    /// The number of bytes of the body that had been sent at the last check.
    int64_t sent_at_look;
};

/// The role of a request while a connection that several requests share is opened.
enum sharing_state {
    /// The request has not opened a connection.
    UNDECIDED,
    /// The request opens a connection, and the requests to its server wait.
    OPENING,
    /// The connection is open, and the request is sent.
    OPENED,
    /// The request waits, and is not on the loop.
    PARKED,
};

struct sharing {
    /// The links in `openers` or `parked` of the loop. `link` is NULL if the request is in neither list.
    struct ycurl_exchange *next, **link;
    enum sharing_state state;
    /// Whether the request waits for a connection that another request opens.
    bool waits;
    /// Whether the request opens a connection, even if another request opens one.
    bool opens_own;
    /// Whether the wait has ended, and whether the request leaves its own connection for another one.
    bool is_released, moves;
    /// The time at which the wait ends; 0 if the request has not waited.
    int64_t limit;
};

/// Requests in the order in which they were added; `end` is NULL until the first request is added.
struct sharing_list {
    struct ycurl_exchange *first, **end;
};

/// The options that libcurl received for the previous request, and that need not be set again.
struct configured {
    enum ycurl_body body;
    char method[24];
    long connect_timeout;
    bool decompress, progress, fresh, ignores_length, raw, verbose;
    /// The value of ycurl_request.bypasses_proxy.
    int bypasses_proxy;
    /// The size of the receive buffer, or 0 for libcurl's default.
    long buffer;
};

/// A connection that libcurl opens and hands over.
///
/// It has a multi handle of its own. In a shared multi handle (7.88), libcurl treats a connection as dead when the next
/// request is made, if the connection has been silent for long or bytes have arrived on it.
struct connection {
    void *multi;
    /// The time at which libcurl must be called next, or INT64_MAX for never.
    int64_t timer;
    /// The socket, or -1 until the connection is open.
    int socket;
    /// The bytes that are being sent, and the number of bytes sent so far. TLS requires that the bytes do not move
    /// until all of them are sent.
    struct buffer outgoing;
    size_t sent;
    /// The line of the head that is being received.
    struct buffer line;
    /// Whether the socket accepts no more bytes at the moment.
    bool is_full;
    /// Whether the caller waits until the current bytes are sent.
    bool is_awaited;
    bool has_ended;
    /// The reason why sending failed, or CURLE_OK if it has not failed.
    int failure;
};

struct ycurl_exchange {
    void *easy;
    ycurl_loop *loop;
    void *owner;

    // State that is kept between requests.
    struct buffer lines;
    struct curl_slist *line_nodes;
    size_t line_count, line_nodes_capacity;
    /// The number and the total size of the request's own header lines. They come before the lines that Switchyard
    /// adds.
    size_t own_count, own_bytes;
    /// Whether libcurl has the list of lines, and the settings for which the list was completed.
    bool is_listed;
    struct {
        bool decompress, body;
    } listed_for;
    /// The header fields that the request itself sets.
    struct {
        bool accept, content_type, expect, encoding, range, upgrade;
    } names;
    struct curl_slist *resolve;
    struct configured configured;
    /// The maximum number of bytes received and sent per second, or 0 for no limit.
    int64_t receive_speed, send_speed;
    /// Whether a speed limit applies. While libcurl enforces a limit, it does not watch the socket.
    bool limits_speed;

    // The request.
    enum ycurl_body body;
    const char *body_bytes;
    struct buffer body_copy;
    int body_file;
    /// The modification time of the file when it was opened.
    struct timespec body_file_time;
    /// The length of the file. Its bytes follow the first `body_before` bytes of body_copy.
    int64_t body_file_length;
    size_t body_before;
    int64_t body_length, body_position;
    enum feed feed;
    /// The connection of a request that asks for another protocol. NULL for every other request.
    struct connection *connection;
    /// Whether libcurl has read any of a fed body.
    bool fed_taken;
    struct early early;
    bool once, was_sent, fresh, may_be_multiplexed, shares;
    struct sharing sharing;
    /// The refusal of the request by an HTTP/2 server.
    struct refusal refusal;
    /// Whether the request must not be sent on a connection that other requests use.
    bool needs_own_connection;
    /// Whether libcurl may have recorded a refusal in the handle without reporting it. The record outlives the request.
    bool notes_refusal;
    /// The ports of the connection on which the request was sent, or 0 while unknown.
    int local_port, remote_port;
    /// The socket on which the last part of a response arrived, or -1 while unknown.
    int heard_on;
    /// The time at which the request was last sent.
    int64_t sent_at;
    /// A hash of the URL's scheme, host and port that identifies the server.
    uint64_t origin;
    bool (*may_send)(void *owner);
    bool report_progress;

    // The response.
    struct buffer head;
    /// The total size of all heads in bytes, including interim responses and trailers, and the maximum of this size.
    size_t head_total, head_limit;
    enum head_phase head_phase;
    bool encoded, is_multiplexed;
    /// The codings in the response's Content-Encoding fields, and the gzip decoder. The decoder is NULL if libcurl
    /// decodes, or if there is nothing to decode.
    struct codings codings;
    struct gunzip *gunzip;
    /// Whether the response has a Location, whether the caller needs only the head of a redirect, and whether the body
    /// is therefore skipped.
    bool names_location, skips_redirect_body, is_skipped;
    /// Whether the body is complete only if TLS has signalled the end, and whether TLS has done so.
    bool minds_end, has_ended;
    /// The value of Content-Length, or -1 if there is none yet.
    int64_t announced_length;
    bool contradicts_length, names_transfer;
    struct buffer received;
    int64_t received_total, received_limit;
    bool streaming, receive_paused;
    size_t window;

    // The result.
    enum ycurl_verdict verdict;
    int os_error;
    /// libcurl's message for a failure.
    char words[CURL_ERROR_SIZE];
    struct ycurl_progress progress;

    // State while the exchange is on a loop.
    /// The socket that libcurl last watched for the exchange, or -1 for none.
    int socket;
    enum place place;
    enum connecting connecting;
    int64_t connect_deadline, deadline, idle_limit, last_activity;
    int64_t due;
    size_t heap_index;
    unsigned events;
    int code;
    struct list_link links[LISTS];
};

struct watched_socket {
    uint32_t wanted, registered;
    /// The value of `body_reads` when the socket last accepted bytes, and the number of consecutive times since then
    /// that no body was read.
    uint32_t reads_before;
    uint8_t fruitless;
    /// Whether the socket is opened and closed through our callbacks. Only then may it stay registered after libcurl
    /// has stopped using it.
    bool ours;
    /// Whether the socket is writable but there is nothing to send. For a short time it is then not watched for
    /// writing.
    bool is_stalled;
    /// Whether the connection is idle: no exchange uses it, and its server has no reason to send anything.
    bool is_kept;
    /// The time since which the connection has been idle, and its server.
    int64_t kept_since;
    uint64_t origin;
    /// Whether a part of a response has arrived on the connection. Over HTTP/2, the server's settings are known then.
    bool has_responded;
    /// Whether the connection is unresponsive: a request on it was given up, and nothing has arrived since then. The
    /// connection gets no new requests (deaf.c).
    bool is_deaf;
    /// The time when the socket was last readable, and the start of the silence during which requests were given up.
    int64_t heard, silent_since;
    /// The ports of the connection, or 0 until they are read.
    int local_port, remote_port;
    /// The exchange of the connection, if the connection has a multi handle of its own.
    struct ycurl_exchange *exchange;
    /// The exchange that was paused on the connection before libcurl has waited for the socket, otherwise NULL. The
    /// pointer is only compared, because the exchange may no longer exist.
    const struct ycurl_exchange *paused;
};

/// The function that must accept at least one certificate of a chain. If `accepts` is NULL, there is no such check.
struct chain_judge {
    ycurl_judge accepts;
    const void *context;
};

struct loop_option {
    int option;
    long value;
};

/// The state of a loop's thread.
enum waiting {
    WORKS,
    /// The thread checks for new work and for events without blocking.
    POLLS,
    /// The thread blocks, so that it must be woken for new work.
    BLOCKS,
};

struct ycurl_loop {
    void *multi;
    int epoll, wake;
    /// Whether the thread waits or is about to wait for new work. Other threads read and write it.
    _Atomic enum waiting waits;
    /// The number of consecutive checks without an event before a wait, and the number of waits that start without a
    /// check.
    unsigned fruitless_polls, skipped_polls;
    struct loop_option options[4];
    size_t option_count;
    struct chain_judge judge;
    int64_t now;
    /// The number of exchanges that libcurl runs, and the number of those that have a fed body.
    size_t running_count, fed_count;
    /// The number of exchanges whose response may have ended unnoticed (`early.in_doubt`).
    size_t doubt_count;
    /// The time at which libcurl must be called next, or INT64_MAX for never.
    int64_t timer;
    struct watched_socket *sockets;
    size_t socket_count;
    size_t kept_count;
    /// The servers that have chosen HTTP/1.1; NULL if they are not remembered.
    ycurl_servers *servers;
    /// The requests that open connections to be shared, and the requests that wait for such a connection.
    struct sharing_list openers, parked;
    /// The time at which these requests are checked; INT64_MAX for never.
    int64_t sharing_due;
    /// The number of unresponsive sockets.
    size_t deaf_count;
    /// A ring of the latest GOAWAYs.
    struct goodbye goodbyes[8];
    size_t goodbye_count;
    /// The time at which the loop detected that the process had been stopped. Until ycurl_loop_catch_up, the loop uses
    /// this time as its clock.
    int64_t stopped_since;
    /// The time at which stalled sockets are watched for writing again, or INT64_MAX if there are none.
    int64_t stall_end;
    /// The number of times that libcurl has read a piece of any request's body.
    uint32_t body_reads;
    /// The exchanges with a deadline. The exchange with the earliest deadline comes first.
    struct ycurl_exchange **heap;
    size_t heap_count, heap_capacity;
    struct {
        struct ycurl_exchange *first, *last;
    } lists[LISTS];
    /// The abandoned exchanges. They use the links of the list of finished exchanges, to which they are no longer
    /// added.
    struct ycurl_exchange *abandoned;
    bool out_of_memory;
    /// Whether the last check of the sockets received many bytes of a streamed body, so that an immediate further check
    /// is worthwhile.
    bool gathers;
};

/// The size of the receive buffer of a response in bytes.
#define RECEIVED_PIECE ((size_t)16 << 10)
/// The size of the receive buffer of a streamed response in bytes.
#define STREAMED_PIECE ((size_t)64 << 10)
/// The number of bytes of a streamed response that are collected before delivery, if they are available. Larger
/// deliveries are better because each delivery wakes a reader.
#define STREAMED_BATCH ((size_t)128 << 10)

#define NOT_IN_HEAP SIZE_MAX

static inline int64_t earlier(int64_t one, int64_t other) { return one < other ? one : other; }

/// Adds an exchange to the list from which ycurl_loop_next_event takes.
void loop_note(ycurl_loop *loop, struct ycurl_exchange *exchange, unsigned event);

/// Records a response whose end libcurl might miss, when its head is complete.
void early_note_answer(struct ycurl_exchange *exchange);
/// Schedules a check of an exchange whose response may have ended unnoticed.
void early_note_doubt(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Records that libcurl has changed what it watches on the socket of an exchange with a fed body.
void early_note_watching(void *easy, int what);
/// A function that makes libcurl perform the work that is due.
typedef void (*loop_push)(ycurl_loop *loop);
/// Checks the exchanges whose response may end unnoticed. If a socket has had an event, all of them are checked.
/// Otherwise only those are checked that are in doubt or have sent bytes.
void early_look(ycurl_loop *loop, bool socket_moved, loop_push push);
/// Stops checking an exchange that libcurl has finished.
void early_forget(ycurl_loop *loop, struct ycurl_exchange *gone);
/// Returns whether the response body is complete according to Content-Length. A failed upload then does not affect the
/// response.
bool early_is_whole(struct ycurl_exchange *exchange);

/// Records the codings in a Content-Encoding field.
void codings_note(struct codings *codings, const char *value, size_t count);
/// Decides which decoder a body uses, once its head is complete.
void codings_settle(struct ycurl_exchange *exchange);
/// Releases the gzip decoder. Returns whether the body ended prematurely.
bool codings_end(struct ycurl_exchange *exchange);
/// A function that receives decoded bytes. It returns false to end the decoding.
typedef bool (*decoded_handler)(struct ycurl_exchange *exchange, const char *bytes, size_t count);
/// Decodes gzip. Returns false if the handler has ended the decoding, or if the bytes are not valid gzip.
bool gunzip_decode(struct ycurl_exchange *exchange, const char *bytes, size_t count, decoded_handler handle);

/// Returns the result of an exchange that libcurl has ended, as a CURLcode. libcurl was told to ignore some failures,
/// and this function takes them into account.
int exchange_judge_end(struct ycurl_exchange *exchange, int code);

/// Closes the file of a request body when the file is no longer needed.
void exchange_close_file(struct ycurl_exchange *exchange);

/// Starts to keep the memory that libcurl frees on the calling thread, as long as the loop runs on this thread.
void memory_keep(const ycurl_loop *loop);
/// Frees surplus receive buffers. On other threads than the loop's, this function, memory_give_back and memory_end do
/// nothing.
void memory_trim(const ycurl_loop *loop);
/// Frees all memory that is kept for a loop.
void memory_give_back(const ycurl_loop *loop);
/// Frees all memory that is kept for a loop, and stops keeping memory.
void memory_end(const ycurl_loop *loop);

/// Adds an exchange at the end of a list.
void list_append(ycurl_loop *loop, int list, struct ycurl_exchange *exchange);
/// Removes and returns the first exchange of a list. Returns NULL if the list is empty.
struct ycurl_exchange *list_take(ycurl_loop *loop, int list);
/// Removes an exchange from a list. A linear search is enough, because the lists are nearly always short.
void list_forget(ycurl_loop *loop, int list, struct ycurl_exchange *gone);

/// Removes an exchange from the lists of its loop, because the exchange is about to be destroyed.
void loop_forget(ycurl_loop *loop, struct ycurl_exchange *gone);

/// Adds an exchange to the list from which ycurl_loop_next_finished takes, unless it is already in the list.
void loop_note_finished(ycurl_loop *loop, struct ycurl_exchange *exchange, int code);

/// Sets the time at which the deadlines of an exchange are checked. INT64_MAX removes the time.
bool deadlines_set(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t due);
/// Sets the time of the next check to the earliest deadline of the exchange.
bool deadlines_renew(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Sets the deadline of an exchange to at most `rest` nanoseconds from now.
void deadlines_shorten(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t rest);
/// Returns the time at which the idle timeout of an exchange ends, or INT64_MAX for never.
int64_t deadlines_idle(const struct ycurl_exchange *exchange);

/// Ends the wait for more of a fed body.
static inline void end_wait(struct ycurl_exchange *exchange) {
    if (exchange->feed == FEED_AWAITED) exchange->feed = FEED_GOES_ON;
}

static inline long info_long(ycurl_exchange *exchange, int info) {
    long value = 0;
    ycurl_lib.easy_getinfo(exchange->easy, info, &value);
    return value;
}

static inline int64_t info_offset(ycurl_exchange *exchange, int info) {
    int64_t value = 0;
    ycurl_lib.easy_getinfo(exchange->easy, info, &value);
    return value;
}

/// Ends the transfer from within a callback, and returns the value that libcurl treats as a failure.
static inline size_t stop(struct ycurl_exchange *exchange, enum ycurl_verdict verdict, size_t failure) {
    exchange->verdict = verdict;
    return failure;
}

/// Called with one line of a head or of the trailers.
size_t exchange_receive_head(const char *line, size_t size, size_t count, void *exchange);
/// Discards a piece of a response body of which only the head is needed.
size_t exchange_skip_piece(struct ycurl_exchange *exchange, size_t count);

/// Installs the callbacks and options that all requests of an exchange share. Returns a CURLcode.
int exchange_install_callbacks(struct ycurl_exchange *exchange);

/// Installs the check of certificate chains for an exchange, if its loop has one. Returns a CURLcode.
int chain_install(struct ycurl_exchange *exchange);
/// Makes TLS check how a connection ends. Returns false without TLS, or if the TLS library does not support the check.
bool chain_mind_end(struct ycurl_exchange *exchange);
/// Returns whether the other side has signalled the end over TLS.
bool chain_has_ended(struct ycurl_exchange *exchange);
/// Returns whether TLS is in use and the other side has not ended it. Returns false if this is unknown.
bool chain_goes_on(struct ycurl_exchange *exchange);
/// Returns whether the last connection failed only because the loop's check accepted none of the certificates.
bool chain_was_refused(struct ycurl_exchange *exchange);

/// Returns the status in a head, or 0 if there is none.
int head_status(const struct buffer *head);

/// Makes a handle open a connection without sending anything. Returns a CURLcode.
int connection_prepare(struct ycurl_exchange *exchange, const struct ycurl_request *request);
/// Returns the multi handle of an exchange, or NULL if no memory is available.
void *connection_multi(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Takes over an open connection and sends the head. Returns false if there is no connection, or if nothing may be
/// sent.
bool connection_begin(struct ycurl_exchange *exchange);
/// Makes libcurl perform the work that is due on a connection, or reports an event of the connection's socket to
/// libcurl.
void connection_act(struct ycurl_exchange *exchange, int socket, int what);
/// Sends and receives as many bytes on a connection as possible.
void connection_move(struct ycurl_exchange *exchange);
void connection_free(struct ycurl_exchange *exchange);

/// The maximum delay of the thread in nanoseconds that is not treated as a stop of the process.
#define LATENESS 500000000
struct epoll_event;
/// Waits for events, first without blocking. Returns the number of events, or -1 if the wait was interrupted.
int loop_await(ycurl_loop *loop, struct epoll_event *events, int most, int wait_ms);
/// Removes a running exchange from libcurl.
void loop_take_off(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Records the exchanges that libcurl has ended on a multi handle.
void loop_collect(ycurl_loop *loop, void *multi);

/// The callbacks with which libcurl opens and closes sockets and sets the events that it watches.
int loop_open_socket(void *loop, int purpose, struct curl_sockaddr *address);
int loop_close_socket(void *loop, int socket);
int sockets_watch(void *easy, int socket, int what, void *loop, void *unused);

/// Calls epoll_ctl() for the loop's epoll set.
int sockets_control(ycurl_loop *loop, int operation, int socket, uint32_t events);
/// Reports the events of a socket to libcurl.
void sockets_dispatch(ycurl_loop *loop, int socket, uint32_t events);
/// Watches the socket of a connection that libcurl has handed over.
void sockets_watch_own(struct ycurl_exchange *exchange, uint32_t wanted);
/// Records that an exchange has ended successfully. If possible, its connection is kept as an idle connection.
void sockets_keep(struct ycurl_exchange *exchange);
/// Records that an exchange whose receiving is paused uses its connection, so that the connection does not count as idle.
void sockets_note_pause(struct ycurl_exchange *exchange);
/// Ends idle connections on which a server has sent unsolicited data, so that they are not reused.
void sockets_look_at_kept(ycurl_loop *loop);
/// Makes a connection look closed to libcurl when it next uses the connection.
void sockets_end(ycurl_loop *loop, int socket, struct watched_socket *entry);
/// Ends the idle connections to an exchange's server that may already be closing. A request that is sent only once must
/// not use them.
void sockets_end_idle(struct ycurl_exchange *exchange);
/// Watches stalled sockets for writing again when the stall is over.
void sockets_end_stalls(ycurl_loop *loop);

#endif
