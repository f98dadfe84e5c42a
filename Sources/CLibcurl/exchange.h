/// The inside of an exchange and of a loop. Private to this target.
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

/// Makes room for `more` bytes; false when memory is short.
bool buffer_reserve(struct buffer *buffer, size_t more);
bool buffer_append(struct buffer *buffer, const void *bytes, size_t count);
void buffer_free(struct buffer *buffer);

/// The lists of a loop that an exchange may be on.
enum { EVENTS, FINISHED, AHEAD, LISTS };

/// The place of an exchange on one of them.
struct list_link {
    struct ycurl_exchange *next;
    bool is_listed;
};

/// What is known of the codings of a body.
struct codings {
    unsigned count;
    bool names_gzip, names_unknown;
};

/// Whose an exchange is.
enum place {
    /// The caller's alone.
    IDLE,
    /// libcurl's.
    RUNNING,
    /// libcurl's alone: it cannot let go before it has looked up a name, and then the exchange ends.
    ABANDONED,
};

/// How far an exchange has come to a connection of its own; one that takes a kept one stays where it begins.
enum connecting { UNCONNECTED, NAME_LOOKED_UP, SOCKET_OPENED };

/// How far the answer's head has come; that of an interim response, or of a trailer, is none.
enum head_phase { HEAD_AWAITED, HEAD_BEGUN, HEAD_COMPLETE };

/// How a body comes that is fed.
enum feed {
    FEED_GOES_ON,
    /// libcurl waits for more of it.
    FEED_AWAITED,
    /// That was all.
    FEED_ENDED,
};

/// What is known of an answer that is ahead of the request's body.
struct early {
    /// libcurl watches the socket no more, neither for reading nor for writing.
    bool unwatched;
    /// It has been asked since then whether the answer was a reason to stop sending.
    bool asked_again;
    /// The answer has come, and is one after which libcurl sends no more.
    bool refused;
    /// The answer may have ended unnoticed, or nothing will come any more.
    bool in_doubt;
    /// Bytes of the body that had been sent at the last look.
    int64_t sent_at_look;
};

/// What libcurl was told for the request before, and need not be told again.
struct configured {
    enum ycurl_body body;
    char method[24];
    long connect_timeout;
    bool decompress, progress, fresh, ignores_length, raw, verbose;
    /// As ycurl_request.bypasses_proxy.
    int bypasses_proxy;
    /// The size of its receive buffer; 0 is its own.
    long buffer;
};

/// A connection that libcurl opens and that is ours once it stands.
///
/// It has a multi handle of its own: in one that it shared, libcurl would take a connection that is silent for long, or
/// over which bytes have come, for a dead one when the next request is made (7.88).
struct connection {
    void *multi;
    /// When libcurl wants to be called; INT64_MAX for never.
    int64_t timer;
    /// -1 until it stands.
    int socket;
    /// What is being sent, and how much of it has gone; it stays where it is until all has, as TLS wants it.
    struct buffer outgoing;
    size_t sent;
    /// The line of the head that is being received.
    struct buffer line;
    /// Whether the socket takes no more for now.
    bool is_full;
    /// Whether the owner waits until what is being sent has gone.
    bool is_awaited;
    bool has_ended;
    /// Why sending failed; CURLE_OK while it has not.
    int failure;
};

struct ycurl_exchange {
    void *easy;
    ycurl_loop *loop;
    void *owner;

    // What stays from one request to the next.
    struct buffer lines;
    struct curl_slist *line_nodes;
    size_t line_count, line_nodes_capacity;
    /// The lines of the request itself, which come first.
    size_t own_count, own_bytes;
    /// Whether libcurl has the list, and for what it was completed.
    bool is_listed;
    struct {
        bool decompress, body;
    } listed_for;
    /// Fields of which the lines of the request name one.
    struct {
        bool accept, content_type, expect, encoding, range, upgrade;
    } names;
    struct curl_slist *resolve;
    struct configured configured;
    /// Bytes per second that are received and sent at most; 0 is no limit.
    int64_t receive_speed, send_speed;
    /// libcurl looks away from the socket while one of the limits of speed is reached.
    bool limits_speed;

    // The request.
    enum ycurl_body body;
    const char *body_bytes;
    struct buffer body_copy;
    int body_file;
    /// When the file was last changed before it was opened.
    struct timespec body_file_time;
    /// The file's bytes follow the first `body_before` of body_copy.
    int64_t body_file_length;
    size_t body_before;
    int64_t body_length, body_position;
    enum feed feed;
    /// NULL for a request that asks for no other protocol.
    struct connection *connection;
    /// Whether libcurl has had any of a fed body.
    bool fed_taken;
    struct early early;
    bool once, was_sent, fresh, may_be_multiplexed;
    /// What is known of an HTTP/2 server that has not processed the request.
    struct refusal refusal;
    /// Whether libcurl may have noted a refusal in the handle that it has not named. It outlives the request.
    bool notes_refusal;
    /// The ports of the connection that the request was sent on; 0 while unknown.
    int local_port, remote_port;
    /// The socket on which it was last answered; -1 while unknown.
    int heard_on;
    /// When it was sent last.
    int64_t sent_at;
    /// Tells servers apart: of the URL's scheme, host and port.
    uint64_t origin;
    bool (*may_send)(void *owner);
    bool report_progress;

    // The response.
    struct buffer head;
    /// Bytes of all heads, those of interim responses and the trailers too.
    size_t head_total, head_limit;
    enum head_phase head_phase;
    bool encoded, is_multiplexed;
    /// What its Content-Encoding fields name, and what undoes gzip; NULL where libcurl does, or nothing is to be undone.
    struct codings codings;
    struct gunzip *gunzip;
    /// Whether it points elsewhere, and the caller wants nothing of such an answer but its head.
    bool names_location, skips_redirect_body, is_skipped;
    /// Whether the body is whole only where TLS says that this is the end, and whether it has.
    bool minds_end, has_ended;
    /// What Content-Length said; -1 for nothing yet.
    int64_t announced_length;
    bool contradicts_length, names_transfer;
    struct buffer received;
    int64_t received_total, received_limit;
    bool streaming, receive_paused;
    size_t window;

    // What came of it.
    enum ycurl_verdict verdict;
    int os_error;
    /// libcurl's words for a failure.
    char words[CURL_ERROR_SIZE];
    struct ycurl_progress progress;

    // On the loop.
    /// The socket that libcurl has watched for it last; -1 for none.
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
    /// Times that any body had been read more of when it last took bytes, and times in a row that none was since.
    uint32_t reads_before;
    uint8_t fruitless;
    /// Opened and closed through our callbacks, so that a registration may outlive its need.
    bool ours;
    /// It takes bytes and gets none, and is not watched for that for a while.
    bool is_stalled;
    /// No exchange uses it, and its server has no reason to say anything.
    bool is_kept;
    /// Since when, and whose it is.
    int64_t kept_since;
    uint64_t origin;
    /// A request on it was given up, and it has been silent since: it takes no new request (deaf.c).
    bool is_deaf;
    /// When it last had something to read, and since when requests on it have been given up in silence.
    int64_t heard, silent_since;
    /// The ports of its connection; 0 while they have not been asked for.
    int local_port, remote_port;
    /// The exchange whose connection it belongs to, where that has a multi handle of its own.
    struct ycurl_exchange *exchange;
};

/// Who has to know one of the certificates of a chain; nobody when `accepts` is NULL.
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
    /// Whether the thread waits, or is about to, and has to be woken to see something new.
    atomic_bool waits;
    struct loop_option options[4];
    size_t option_count;
    struct chain_judge judge;
    int64_t now;
    /// Exchanges that libcurl has, and those of them with a fed body.
    size_t running_count, fed_count;
    /// Exchanges that are in doubt.
    size_t doubt_count;
    /// When libcurl wants to be called; INT64_MAX for never.
    int64_t timer;
    struct watched_socket *sockets;
    size_t socket_count;
    size_t kept_count;
    /// Sockets that are deaf.
    size_t deaf_count;
    /// The latest goodbyes, in a ring.
    struct goodbye goodbyes[8];
    size_t goodbye_count;
    /// When the process was found to have been stopped; its clock until ycurl_loop_catch_up.
    int64_t stopped_since;
    /// When stalled sockets are looked at again; INT64_MAX while there are none.
    int64_t stall_end;
    /// Times that libcurl has read more of a request's body.
    uint32_t body_reads;
    /// Exchanges with a deadline, the next one first.
    struct ycurl_exchange **heap;
    size_t heap_count, heap_capacity;
    struct {
        struct ycurl_exchange *first, *last;
    } lists[LISTS];
    /// Linked as if they were on the list of the finished ones, which they are not put on any more.
    struct ycurl_exchange *abandoned;
    bool out_of_memory;
    /// Whether the last look at the sockets brought much of a streamed body, so that another look is worth it.
    bool gathers;
};

/// What a response is received in, in bytes.
#define RECEIVED_PIECE ((size_t)16 << 10)
/// What a streamed one is received in.
#define STREAMED_PIECE ((size_t)64 << 10)
/// What is gathered of one before it is handed over, if it is there already: each time a reader has to be woken.
#define STREAMED_BATCH ((size_t)128 << 10)

#define NOT_IN_HEAP SIZE_MAX

static inline int64_t earlier(int64_t one, int64_t other) { return one < other ? one : other; }

/// Puts an exchange on the list that ycurl_loop_next_event empties.
void loop_note(ycurl_loop *loop, struct ycurl_exchange *exchange, unsigned event);

/// Notes an answer whose end libcurl might miss, now that its head is there.
void early_note_answer(struct ycurl_exchange *exchange);
/// Has an exchange looked at whose end is in doubt.
void early_note_doubt(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Learns that libcurl wants to know something else of the socket of an exchange with a fed body.
void early_note_watching(void *easy, int what);
/// Has libcurl do what is due by now.
typedef void (*loop_push)(ycurl_loop *loop);
/// Looks at the exchanges noted: at all when a socket has moved, else at those in doubt and those that have sent something.
void early_look(ycurl_loop *loop, bool socket_moved, loop_push push);
/// Takes one off that libcurl is done with.
void early_forget(ycurl_loop *loop, struct ycurl_exchange *gone);
/// Whether all has come that the answer's Content-Length announced, so that nothing the upload does can take from it.
bool early_is_whole(struct ycurl_exchange *exchange);

/// Notes what a Content-Encoding field names.
void codings_note(struct codings *codings, const char *value, size_t count);
/// Settles who undoes the codings of a body, once its head is complete.
void codings_settle(struct ycurl_exchange *exchange);
/// Lets go of what undoes gzip; whether the body did not come to an end within.
bool codings_end(struct ycurl_exchange *exchange);
/// Takes what was decoded; false ends it.
typedef bool (*decoded_handler)(struct ycurl_exchange *exchange, const char *bytes, size_t count);
/// Undoes gzip; false when a handler has ended it, or the bytes are none of gzip.
bool gunzip_decode(struct ycurl_exchange *exchange, const char *bytes, size_t count, decoded_handler handle);

/// What came of an exchange that libcurl has ended, having been told to overlook some of it. Returns a CURLcode.
int exchange_judge_end(struct ycurl_exchange *exchange, int code);

/// Closes the file of a body that is not needed any more.
void exchange_close_file(struct ycurl_exchange *exchange);

/// Keeps what libcurl gives back on the calling thread from now on, while the loop runs on it.
void memory_keep(const ycurl_loop *loop);
/// Gives malloc back the receive buffers that are too many. This and the two below do nothing on any other thread.
void memory_trim(const ycurl_loop *loop);
/// Gives malloc back all that is kept for a loop.
void memory_give_back(const ycurl_loop *loop);
/// The same, and keeps nothing any more.
void memory_end(const ycurl_loop *loop);

/// Puts an exchange at the end of a list.
void list_append(ycurl_loop *loop, int list, struct ycurl_exchange *exchange);
/// Takes the first one off; NULL when there is none.
struct ycurl_exchange *list_take(ycurl_loop *loop, int list);
/// Takes any one off; the lists are nearly always empty or short.
void list_forget(ycurl_loop *loop, int list, struct ycurl_exchange *gone);

/// Takes an exchange that goes away off the lists below.
void loop_forget(ycurl_loop *loop, struct ycurl_exchange *gone);

/// Puts an exchange on the list that ycurl_loop_next_finished empties, unless it is there.
void loop_note_finished(ycurl_loop *loop, struct ycurl_exchange *exchange, int code);

/// Sets when an exchange has to be looked at; INT64_MAX takes it out.
bool deadlines_set(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t due);
/// Sets it to the first of its times.
bool deadlines_renew(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Ends an exchange after so many nanoseconds at the latest.
void deadlines_shorten(ycurl_loop *loop, struct ycurl_exchange *exchange, int64_t rest);
/// When the silence of an exchange's server is too long; INT64_MAX for never.
int64_t deadlines_idle(const struct ycurl_exchange *exchange);

/// Has nobody wait for more of a fed body.
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

/// Ends the transfer from within a callback; the value is what libcurl takes for failure.
static inline size_t stop(struct ycurl_exchange *exchange, enum ycurl_verdict verdict, size_t failure) {
    exchange->verdict = verdict;
    return failure;
}

/// Called with one line of a head, or of the trailers.
size_t exchange_receive_head(const char *line, size_t size, size_t count, void *exchange);
/// Takes a piece of the body of an answer of which nothing but the head is wanted.
size_t exchange_skip_piece(struct ycurl_exchange *exchange, size_t count);

/// Installs what every request of an exchange has in common. Returns a CURLcode.
int exchange_install_callbacks(struct ycurl_exchange *exchange);

/// Has the chains of an exchange's connections judged, if its loop says so. Returns a CURLcode.
int chain_install(struct ycurl_exchange *exchange);
/// Has TLS mind how a connection ends; false where there is no TLS, or none that can.
bool chain_mind_end(struct ycurl_exchange *exchange);
/// Whether the other side has said over TLS that this is the end.
bool chain_has_ended(struct ycurl_exchange *exchange);
/// Whether TLS is in use and the other side has not ended it; false where that cannot be told.
bool chain_goes_on(struct ycurl_exchange *exchange);
/// Whether the last connection failed because of the judge alone.
bool chain_was_refused(struct ycurl_exchange *exchange);

/// The status that a head gives; 0 for none.
int head_status(const struct buffer *head);

/// Makes a handle open a connection and send nothing itself. Returns a CURLcode.
int connection_prepare(struct ycurl_exchange *exchange, const struct ycurl_request *request);
/// The multi handle of an exchange; NULL when memory is short.
void *connection_multi(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Takes a connection over that stands, and sends the head; false when there is none, or nothing may be sent.
bool connection_begin(struct ycurl_exchange *exchange);
/// Has libcurl do what is due, or tells it what has happened at a socket of its.
void connection_act(struct ycurl_exchange *exchange, int socket, int what);
/// Sends and receives what can be.
void connection_move(struct ycurl_exchange *exchange);
void connection_free(struct ycurl_exchange *exchange);

/// Takes note of what libcurl has ended on a multi handle.
void loop_collect(ycurl_loop *loop, void *multi);

/// What libcurl calls to open and to close a socket, and to say what it wants to know of one.
int loop_open_socket(void *loop, int purpose, struct curl_sockaddr *address);
int loop_close_socket(void *loop, int socket);
int sockets_watch(void *easy, int socket, int what, void *loop, void *unused);

/// epoll_ctl() for the loop's set.
int sockets_control(ycurl_loop *loop, int operation, int socket, uint32_t events);
/// Tells libcurl what has happened at a socket.
void sockets_dispatch(ycurl_loop *loop, int socket, uint32_t events);
/// Watches the socket of a connection that is ours.
void sockets_watch_own(struct ycurl_exchange *exchange, uint32_t wanted);
/// Takes note that libcurl has ended an exchange well, so that its connection is kept if it can be.
void sockets_keep(struct ycurl_exchange *exchange);
/// Ends kept connections whose servers have said something unasked, before one of them is used again.
void sockets_look_at_kept(ycurl_loop *loop);
/// Has libcurl find a connection at its end when it next comes to it.
void sockets_end(ycurl_loop *loop, int socket, struct watched_socket *entry);
/// Ends those kept connections to an exchange's server that it may not use because it is sent once only.
void sockets_end_idle(struct ycurl_exchange *exchange);
/// Watches stalled sockets again when it is time.
void sockets_end_stalls(ycurl_loop *loop);

#endif
