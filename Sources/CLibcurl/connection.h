/// The state of HTTP/2 connections: shared connections, refused requests, and unresponsive connections. Private to this
/// target.
#ifndef CLIBCURL_CONNECTION_H
#define CLIBCURL_CONNECTION_H

#include "abi.h"

struct watched_socket;

/// The state of a request that an HTTP/2 server has refused without processing it (RFC 9113 section 8.7).
struct refusal {
    /// The number of times the request has been refused.
    unsigned count;
    /// A lower bound of the number of the request's stream, or 0 while unknown.
    unsigned long stream;
    /// Whether the server has announced that it accepts no stream above `last`.
    bool goes_away;
    unsigned long last;
};

/// The last stream and the time of a server's GOAWAY, with the ports of its connection. The ports distinguish
/// connections, but a later connection may reuse them.
struct goodbye {
    uint64_t origin;
    int local_port, remote_port;
    unsigned long last;
    int64_t heard;
};

/// Reads libcurl's messages and records whether an HTTP/2 server has refused the request.
int refusal_note_words(void *easy, int kind, char *words, size_t count, void *exchange);
/// Returns whether the server sent a GOAWAY that excludes the last request.
bool refusal_holds(struct ycurl_exchange *exchange);
/// Returns whether a request must leave the connection that libcurl has chosen, because the server might refuse it and it
/// could not be sent again.
bool refusal_is_risk(struct ycurl_exchange *exchange);
/// Records that the request counts as not sent.
void refusal_forget_request(struct ycurl_exchange *exchange);

/// Returns the socket of the connection on which an exchange was sent, or -1 if it is unknown.
int socket_of(const struct ycurl_exchange *exchange);
/// Records that the caller gives an exchange up, which may show that its connection is unresponsive. Returns the socket
/// of the unresponsive connection, or -1.
int deaf_note(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Ends an unresponsive connection that no exchange uses.
void deaf_end_unused(ycurl_loop *loop, int socket);
/// Records that a part of the response has arrived. This is needed because libcurl may read a socket without an event.
void deaf_note_received(struct ycurl_exchange *exchange);
/// Records that a socket is closed or about to be closed.
void deaf_forget(ycurl_loop *loop, struct watched_socket *entry);
/// Ends the unresponsive connections to an exchange's server that no exchange uses. Returns whether there are others
/// that an exchange still uses.
bool deaf_remains(ycurl_loop *loop, const struct ycurl_exchange *exchange);

/// Decides whether a request that is about to start shares a connection.
void sharing_begin(struct ycurl_exchange *exchange);
/// Returns whether a request may open a connection. If not, the request is parked when libcurl has ended it.
bool sharing_may_connect(struct ycurl_exchange *exchange);
/// Parks a request that libcurl has ended because the request may not open a connection. Returns false if the request
/// ended for another reason.
bool sharing_park(struct ycurl_exchange *exchange);
/// Records that a request is sent, so that its connection is ready.
void sharing_note_sent(struct ycurl_exchange *exchange);
/// Records that an exchange failed. If it was opening a connection, the requests that wait for this connection open
/// connections of their own.
void sharing_note_failure(struct ycurl_exchange *exchange);
/// Records the version that the server of an exchange has chosen, or with which it has responded.
void sharing_note_version(struct ycurl_exchange *exchange, bool is_http1);
/// Records that a request leaves the loop, so that it no longer opens a shared connection or waits for one.
void sharing_end(struct ycurl_exchange *exchange);
/// Starts the requests whose wait has ended.
void sharing_look(ycurl_loop *loop);

#endif
