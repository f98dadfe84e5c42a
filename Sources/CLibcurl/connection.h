/// The state of HTTP/2 connections: refused requests, and unresponsive connections. Private to this target.
#ifndef CLIBCURL_CONNECTION_H
#define CLIBCURL_CONNECTION_H

#include "abi.h"

struct watched_socket;

/// The refusal of an unprocessed request by an HTTP/2 server (RFC 9113 section 8.7).
struct refusal {
    /// The number of refusals so far.
    unsigned count;
    /// A lower bound of the stream's number; 0 while unknown.
    unsigned long stream;
    /// Whether the server has announced that it accepts no stream above `last`.
    bool goes_away;
    unsigned long last;
};

/// The content and the time of a server's GOAWAY, with the ports of its connection, which a later connection may reuse.
struct goodbye {
    uint64_t origin;
    int local_port, remote_port;
    unsigned long last;
    int64_t heard;
};

/// Records refusals of an HTTP/2 server that libcurl reports as text.
int refusal_note_words(void *easy, int kind, char *words, size_t count, void *exchange);
/// Returns whether the server sent a GOAWAY that excludes the last request.
bool refusal_holds(struct ycurl_exchange *exchange);
/// Marks the request as not sent.
void refusal_forget_request(struct ycurl_exchange *exchange);

/// The socket of the connection on which an exchange was sent; -1 if unknown.
int socket_of(const struct ycurl_exchange *exchange);
/// Records that an exchange is given up, which may show that its connection is unresponsive. Returns the socket of the
/// unresponsive connection, otherwise -1.
int deaf_note(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Ends an unresponsive connection that no exchange uses.
void deaf_end_unused(ycurl_loop *loop, int socket);
/// Records that a part of the response has arrived; libcurl may also read a socket without an event.
void deaf_note_received(struct ycurl_exchange *exchange);
/// Records that a socket is readable.
void deaf_heard(ycurl_loop *loop, struct watched_socket *entry);
/// Records that a socket is closed or ends.
void deaf_forget(ycurl_loop *loop, struct watched_socket *entry);
/// Ends the unused unresponsive connections to an exchange's server; returns whether others still use one.
bool deaf_remains(ycurl_loop *loop, const struct ycurl_exchange *exchange);

#endif
