/// What is known of the connections beneath HTTP/2: who was refused on one, and which are deaf. Private to this target.
#ifndef CLIBCURL_CONNECTION_H
#define CLIBCURL_CONNECTION_H

#include "abi.h"

struct watched_socket;

/// How an HTTP/2 server has refused a request unprocessed (RFC 9113 section 8.7).
struct refusal {
    /// Refusals so far.
    unsigned count;
    /// The number of the stream, at least; 0 while unknown.
    unsigned long stream;
    /// The server has said that it takes no stream above `last`.
    bool goes_away;
    unsigned long last;
};

/// What a server has said in a GOAWAY and when, and the ports of the connection, which another one may have later.
struct goodbye {
    int local_port, remote_port;
    unsigned long last;
    int64_t heard;
};

/// Takes note of what libcurl says of an HTTP/2 server's refusals.
int refusal_note_words(void *easy, int kind, char *words, size_t count, void *exchange);
/// Whether the server has said goodbye before it looked at the request that was sent last.
bool refusal_holds(struct ycurl_exchange *exchange);
/// Has what was sent count as unsent.
void refusal_forget_request(struct ycurl_exchange *exchange);

/// The socket of the connection that an exchange was sent on; -1 when it is unknown.
int socket_of(const struct ycurl_exchange *exchange);
/// Takes note that an exchange is given up, which may show that its connection is deaf; the socket, -1 when it is not.
int deaf_note(ycurl_loop *loop, struct ycurl_exchange *exchange);
/// Ends a deaf connection that no exchange uses.
void deaf_end_unused(ycurl_loop *loop, int socket);
/// Takes note that something of the answer has come: libcurl reads a socket unasked as well.
void deaf_note_received(struct ycurl_exchange *exchange);
/// Takes note that a socket has something to read.
void deaf_heard(ycurl_loop *loop, struct watched_socket *entry);
/// Takes note that a socket is closed, or ends.
void deaf_forget(ycurl_loop *loop, struct watched_socket *entry);
/// Ends the unused deaf connections to an exchange's server; whether there is one that others still use.
bool deaf_remains(ycurl_loop *loop, const struct ycurl_exchange *exchange);

#endif
