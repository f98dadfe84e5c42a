/// The internal state of an exchange and of a loop. Private to this target.
#ifndef CLIBCURL_EXCHANGE_H
#define CLIBCURL_EXCHANGE_H

#include "connection.h"

#include <stdatomic.h>
#include <time.h>

/// A growing piece of memory.
struct buffer {
    char *bytes;
    size_t count, capacity;
};

/// Makes room for `more` bytes; false if no memory is available.
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

/// The codings of a body.
struct codings {
    unsigned count;
    bool names_gzip, names_unknown;
};

/// The owner of an exchange.
enum place {
    /// Owned by the caller.
    IDLE,
    /// Running in libcurl.
    RUNNING,
    /// Owned by libcurl only, which cannot release the exchange before a name lookup ends. Then the exchange ends.
    ABANDONED,
};

/// The progress of an exchange in opening a connection; an exchange on a reused connection stays at the first value.
enum connecting { UNCONNECTED, NAME_LOOKED_UP, SOCKET_OPENED };

/// The progress of the response's head, without interim responses and trailers.
enum head_phase { HEAD_AWAITED, HEAD_BEGUN, HEAD_COMPLETE };

/// The state of a body that is fed.
enum feed {
    FEED_GOES_ON,
    /// libcurl waits for more of the body.
    FEED_AWAITED,
    /// The body has ended.
    FEED_ENDED,
};

/// The state of a response that came before the end of the request's body.
struct early {
    /// Whether libcurl no longer watches the socket, neither for reading nor for writing.
    bool unwatched;
    /// Whether libcurl has been asked whether the response is a reason to stop sending.
    bool asked_again;
    /// Whether the response has arrived and makes libcurl stop sending.
    bool refused;
    /// Whether the response may have ended unnoticed, or nothing more will arrive.
    bool in_doubt;
    /// The number of bytes of the body that had been sent at the last check.
    int64_t sent_at_look;
};

/// The options that libcurl received for the previous request, and that need not be set again.
struct configured {
    enum ycurl_body body;
    char method[24];
    long connect_timeout;
    bool decompress, progress, fresh, ignores_length, raw, verbose;
    /// The value of ycurl_request.bypasses_proxy.
    int bypasses_proxy;
    /// The size of the receive buffer; 0 is libcurl's default.
    long buffer;
};

/// A connection that libcurl opens and hands over.
///
/// It has a multi handle of its own. In a shared multi handle, libcurl would treat a connection that is silent for
/// long, or on which bytes have arrived, as dead when the next request is made (7.88).
struct connection {
    void *multi;
    /// The time at which libcurl must be called; INT64_MAX for never.
    int64_t timer;
    /// The socket; -1 until the connection is open.
    int socket;
    /// The bytes that are being sent, and the number of sent bytes; TLS requires that the bytes do not move until all
    /// are sent.
    struct buffer outgoing;
    size_t sent;
    /// The line of the head that is being received.
    struct buffer line;
    /// Whether the socket accepts no more bytes for now.
    bool is_full;
    /// Whether the owner waits until the current bytes are sent.
    bool is_awaited;
    bool has_ended;
    /// The reason why sending failed; CURLE_OK if it has not.
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
    /// The number and the size of the request's own lines, which come first.
    size_t own_count, own_bytes;
    /// Whether libcurl has the list, and the settings with which it was completed.
    bool is_listed;
    struct {
        bool decompress, body;
    } listed_for;
    /// Header fields that the request's own lines contain.
    struct {
        bool accept, content_type, expect, encoding, range, upgrade;
    } names;
    struct curl_slist *resolve;
    struct configured configured;
    /// The maximum number of bytes per second received and sent; 0 is no limit.
    int64_t receive_speed, send_speed;
    /// Whether a speed limit applies, during which libcurl does not watch the socket.
    bool limits_speed;

    // The request.
    enum ycurl_body body;
    const char *body_bytes;
    struct buffer body_copy;
    int body_file;
    /// The modification time of the file when it was opened.
    struct timespec body_file_time;
    /// The length of the file, whose bytes follow the first `body_before` bytes of body_copy.
    int64_t body_file_length;
    size_t body_before;
    int64_t body_length, body_position;
    enum feed feed;
    /// NULL unless the request asks for another protocol.
    struct connection *connection;
    /// Whether libcurl has read any of a fed body.
    bool fed_taken;
    struct early early;
    bool once, was_sent, fresh, may_be_multiplexed;
    /// The refusal of the request by an HTTP/2 server.
    struct refusal refusal;
    /// Whether libcurl may have noted a refusal in the handle that it has not named. It outlives the request.
    bool notes_refusal;
    /// The ports of the connection that the request was sent on; 0 while unknown.
    int local_port, remote_port;
    /// The socket on which the last part of a response arrived; -1 while unknown.
    int heard_on;
    /// The time at which the request was last sent.
    int64_t sent_at;
    /// A hash of the URL's scheme, host and port that identifies the server.
    uint64_t origin;
    bool (*may_send)(void *owner);
    bool report_progress;

    // The response.
    struct buffer head;
    /// The size of all heads in bytes, including interim responses and trailers, and its limit.
    size_t head_total, head_limit;
    enum head_phase head_phase;
    bool encoded, is_multiplexed;
    /// The codings in the response's Content-Encoding fields, and the gzip decoder; NULL if libcurl decodes, or if
    /// nothing is to be decoded.
    struct codings codings;
    struct gunzip *gunzip;
    /// Whether the response is a redirect with a Location, and the caller only wants the head of such a response.
    bool names_location, skips_redirect_body, is_skipped;
    /// Whether the body is complete only after TLS has signalled the end, and whether it has.
    bool minds_end, has_ended;
    /// The value of Content-Length; -1 if there is none yet.
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

    // State on the loop.
    /// The socket that libcurl has last watched for the exchange; -1 for none.
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
    /// The value of `body_reads` when the socket last accepted bytes, and the number of consecutive times that no body
    /// was read since.
    uint32_t reads_before;
    uint8_t fruitless;
    /// Whether the socket was opened and is closed through our callbacks, so that its registration may outlive its use.
    bool ours;
    /// Whether the socket is writable but has nothing to send, and is not watched for writing for a while.
    bool is_stalled;
    /// Whether no exchange uses the connection, and its server has no reason to send anything.
    bool is_kept;
    /// The time since when the connection is idle, and the server it belongs to.
    int64_t kept_since;
    uint64_t origin;
    /// Whether a request on the connection was given up and the connection has been silent since; it gets no new
    /// requests (deaf.c).
    bool is_deaf;
    /// The time when the socket was last readable, and the start of the silence in which requests were given up.
    int64_t heard, silent_since;
    /// The ports of the connection; 0 until they are read.
    int local_port, remote_port;
    /// The exchange of the connection, if that has a multi handle of its own.
    struct ycurl_exchange *exchange;
};

/// The function that must accept a certificate of a chain; none if `accepts` is NULL.
struct chain_judge {
    ycurl_judge accepts;
    const void *context;
};

struct loop_option {
    int option;
    long value;
};

struct ycurl_loop {
    void *multi;
    int epoll, wake;
    /// Whether the thread waits or is about to wait, so that it must be woken for new work.
    atomic_bool waits;
    struct loop_option options[4];
    size_t option_count;
    struct chain_judge judge;
    int64_t now;
    /// The number of exchanges that libcurl runs, and how many of these have a fed body.
    size_t running_count, fed_count;
    /// The number of exchanges that are in doubt.
    size_t doubt_count;
    /// The time at which libcurl must be called; INT64_MAX for never.
    int64_t timer;
    struct watched_socket *sockets;
    size_t socket_count;
    size_t kept_count;
    /// The number of unresponsive sockets.
    size_t deaf_count;
    /// A ring of the latest GOAWAYs.
    struct goodbye goodbyes[8];
    size_t goodbye_count;
    /// The time at which the process was found to have been stopped, which is the loop's clock until
    /// ycurl_loop_catch_up.
    int64_t stopped_since;
    /// The time at which stalled sockets are checked again; INT64_MAX if there are none.
    int64_t stall_end;
    /// The number of times that libcurl has read more of any request's body.
    uint32_t body_reads;
    /// The exchanges with a deadline, the earliest first.
    struct ycurl_exchange **heap;
    size_t heap_count, heap_capacity;
    struct {
        struct ycurl_exchange *first, *last;
    } lists[LISTS];
    /// The abandoned exchanges, linked with the links of the list of finished exchanges, which they are no longer added
    /// to.
    struct ycurl_exchange *abandoned;
    bool out_of_memory;
    /// Whether the last check of the sockets received much of a streamed body, so that another check is worthwhile.
    bool gathers;
};

/// The size of the receive buffer of a response in bytes.
#define RECEIVED_PIECE ((size_t)16 << 10)
/// The size of the receive buffer of a streamed response in bytes.
#define STREAMED_PIECE ((size_t)64 << 10)
/// The number of bytes of a streamed response that are collected before delivery, if they are available; each delivery
/// must wake a reader.
#define STREAMED_BATCH ((size_t)128 << 10)

#define NOT_IN_HEAP SIZE_MAX

static inline int64_t earlier(int64_t one, int64_t other) { return one < other ? one : other; }

/// Adds an exchange to the list that ycurl_loop_next_event empties.
void loop_note(ycurl_loop *loop, struct ycurl_exchange *exchange, unsigned event);

/// Records a response whose end libcurl might miss, when its head is complete.
void early_note_answer(struct ycurl_exchange *exchange);
/// Schedules a check of an exchange whose end is in doubt.
void early_note_doubt(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Records that libcurl has changed what it watches on the socket of an exchange with a fed body.
void early_note_watching(void *easy, int what);
/// Makes libcurl perform what is due.
typedef void (*loop_push)(ycurl_loop *loop);
/// Checks the recorded exchanges: all of them if a socket has moved, otherwise those that are in doubt or have sent
/// something.
void early_look(ycurl_loop *loop, bool socket_moved, loop_push push);
/// Removes an exchange that libcurl has finished.
void early_forget(ycurl_loop *loop, struct ycurl_exchange *gone);
/// Returns whether the body has the length of the response's Content-Length, so that a failure of the upload cannot
/// affect it.
bool early_is_whole(struct ycurl_exchange *exchange);

/// Records the codings in a Content-Encoding field.
void codings_note(struct codings *codings, const char *value, size_t count);
/// Decides which decoder a body uses, once its head is complete.
void codings_settle(struct ycurl_exchange *exchange);
/// Releases the gzip decoder; returns whether the body ended prematurely.
bool codings_end(struct ycurl_exchange *exchange);
/// Accepts decoded bytes; false ends the decoding.
typedef bool (*decoded_handler)(struct ycurl_exchange *exchange, const char *bytes, size_t count);
/// Decodes gzip; false if the handler has ended the decoding, or the bytes are not valid gzip.
bool gunzip_decode(struct ycurl_exchange *exchange, const char *bytes, size_t count, decoded_handler handle);

/// Returns the result of an exchange that libcurl has ended, considering the failures that it was told to ignore.
/// Returns a CURLcode.
int exchange_judge_end(struct ycurl_exchange *exchange, int code);

/// Closes the file of a body that is no longer needed.
void exchange_close_file(struct ycurl_exchange *exchange);

/// From now on, keeps the memory that libcurl frees on the calling thread, while the loop runs on it.
void memory_keep(const ycurl_loop *loop);
/// Frees surplus receive buffers. This function, memory_give_back and memory_end do nothing on other threads.
void memory_trim(const ycurl_loop *loop);
/// Frees all memory that is kept for a loop.
void memory_give_back(const ycurl_loop *loop);
/// Frees all memory that is kept for a loop, and keeps no more.
void memory_end(const ycurl_loop *loop);

/// Adds an exchange at the end of a list.
void list_append(ycurl_loop *loop, int list, struct ycurl_exchange *exchange);
/// Removes and returns the first exchange of a list; NULL if the list is empty.
struct ycurl_exchange *list_take(ycurl_loop *loop, int list);
/// Removes an exchange from a list; the lists are nearly always empty or short.
void list_forget(ycurl_loop *loop, int list, struct ycurl_exchange *gone);

/// Removes an exchange that is destroyed from the lists of its loop.
void loop_forget(ycurl_loop *loop, struct ycurl_exchange *gone);

/// Adds an exchange to the list that ycurl_loop_next_finished empties, unless it is in the list.
void loop_note_finished(ycurl_loop *loop, struct ycurl_exchange *exchange, int code);

/// Sets the time at which an exchange must be checked; INT64_MAX removes it.
bool deadlines_set(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t due);
/// Sets the time of the next check to the earliest deadline of the exchange.
bool deadlines_renew(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Ends an exchange after at most this number of nanoseconds.
void deadlines_shorten(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t rest);
/// Returns the time at which the idle timeout of an exchange ends; INT64_MAX for never.
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
/// Skips a piece of the body of a response of which only the head is needed.
size_t exchange_skip_piece(struct ycurl_exchange *exchange, size_t count);

/// Installs the callbacks and options that all requests of an exchange share. Returns a CURLcode.
int exchange_install_callbacks(struct ycurl_exchange *exchange);

/// Installs the check of certificate chains for an exchange, if its loop has one. Returns a CURLcode.
int chain_install(struct ycurl_exchange *exchange);
/// Makes TLS check how a connection ends; false without TLS, or if the TLS library does not support it.
bool chain_mind_end(struct ycurl_exchange *exchange);
/// Returns whether the other side has signalled the end over TLS.
bool chain_has_ended(struct ycurl_exchange *exchange);
/// Returns whether TLS is in use and the other side has not ended it; false if that is unknown.
bool chain_goes_on(struct ycurl_exchange *exchange);
/// Returns whether the last connection failed only because of the certificate check of the loop.
bool chain_was_refused(struct ycurl_exchange *exchange);

/// Returns the status of a head; 0 if there is none.
int head_status(const struct buffer *head);

/// Makes a handle open a connection without sending anything. Returns a CURLcode.
int connection_prepare(struct ycurl_exchange *exchange, const struct ycurl_request *request);
/// Returns the multi handle of an exchange; NULL if no memory is available.
void *connection_multi(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Takes an open connection over and sends the head; false if there is no connection, or nothing may be sent.
bool connection_begin(struct ycurl_exchange *exchange);
/// Makes libcurl perform what is due, or reports an event of its socket to it.
void connection_act(struct ycurl_exchange *exchange, int socket, int what);
/// Sends and receives as much as possible.
void connection_move(struct ycurl_exchange *exchange);
void connection_free(struct ycurl_exchange *exchange);

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
/// Records that libcurl has ended an exchange successfully, so that its connection is kept if possible.
void sockets_keep(struct ycurl_exchange *exchange);
/// Ends idle connections whose servers have sent unsolicited data, before one of them is reused.
void sockets_look_at_kept(ycurl_loop *loop);
/// Makes libcurl find a connection closed when it next uses it.
void sockets_end(ycurl_loop *loop, int socket, struct watched_socket *entry);
/// Ends the idle connections to an exchange's server that the exchange may not use because it is sent only once.
void sockets_end_idle(struct ycurl_exchange *exchange);
/// Watches stalled sockets again when their time has come.
void sockets_end_stalls(ycurl_loop *loop);

#endif
