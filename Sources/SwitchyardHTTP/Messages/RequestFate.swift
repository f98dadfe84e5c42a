/// The fate of a request: whether a server may have executed it, or may still execute it.
///
/// The fate is concluded from the bytes sent and from the response. The cases are in ascending order. If a request was
/// sent several times, the greatest fate of its copies applies.
package enum RequestFate: Sendable, Hashable, Comparable {
    /// No server executes the request, because nothing was sent or because the server has declared that it is not
    /// responsible for the request (421).
    case unsent
    /// The server has responded, and its response means that the server does not execute the request.
    case refused
    /// The server has responded and has finished with the request. The request may have been executed.
    case done
    /// A server may have executed the request, or may still execute it.
    case open

    /// Whether a server may have executed the request.
    package var mayHaveBeenExecuted: Bool { self >= .done }

    /// Returns the fate of a request by the status of its response.
    ///
    /// | status | fate | reason |
    /// |---|---|---|
    /// | 202 | open | the server executes the request later (RFC 9110 section 15.3.3) |
    /// | other 2xx | done | the server has executed the request |
    /// | 301 | done for POST, else refused | sent after an executed POST; clients follow it with GET (section 15.4.2) |
    /// | 302, 303 | done | frameworks send both after an executed write request (sections 15.4.3 and 15.4.4) |
    /// | other 3xx | refused | the request must be sent to another URL (307, 308), or needs no action |
    /// | 408, 460, 463, 499 | open | an intermediary has stopped waiting |
    /// | 421 | unsent | the server does not act on the request, and another server may (section 15.5.20) |
    /// | other 4xx | refused | the server does not execute the request (section 15.5) |
    /// | 502, 504 | open | a gateway does not know the state of its upstream server (sections 15.6.3 and 15.6.5) |
    /// | 503 | open | gateways also send it for an upstream server that they have stopped waiting for |
    /// | 520, 522, 524 | open | Cloudflare received no usable response from the upstream server, or none in time |
    /// | 598, 599 | open | other proxies report a timeout of the upstream server |
    /// | 500, 501, 505 to 511 | done | the server has finished, and may have failed after executing the request |
    /// | 521, 523, 525, 526, 530 | done | Cloudflare has no connection to the server, so nothing is pending |
    /// | any other | open | the meaning of the status is unknown |
    ///
    /// A server that is overloaded responds with 503 before it does anything (section 15.6.4). But Varnish and Fastly
    /// respond with 503 if the first byte of their upstream server is late, Heroku's router after 30 s (H12) while the
    /// app continues, and Envoy if the connection to its upstream server is lost. The client cannot distinguish these
    /// responses.
    package init(status: Int, to method: HTTPMethod) {
        self =
            switch status {
            case 202: .open
            case 200..<300: .done
            case 301: method == .post ? .done : .refused
            case 302, 303: .done
            case 300..<400: .refused
            case 408, 460, 463, 499: .open
            case 421: .unsent
            case 400..<500: .refused
            case 500, 501, 505...511, 521, 523, 525, 526, 530: .done
            default: .open
            }
    }

    /// Returns the fate of a request after a transport failure.
    ///
    /// A connection that fails after sending does not reveal what the server does.
    package init(_ error: TransportError) {
        self = error.mayHaveBeenSent ? .open : .unsent
    }
}
