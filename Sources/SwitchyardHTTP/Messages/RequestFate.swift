/// What has become of a request at the servers, as far as what was sent and what came back tells.
///
/// Of several copies the greatest counts.
package enum RequestFate: UInt8, Sendable, Hashable, Comparable {
    /// No server acts on it: nothing was sent, or the server is not the one for it.
    case unsent
    /// The server has responded that it does not execute it.
    case refused
    /// The server has responded and is done with it: it was executed, or may have been.
    case done
    /// A server may have executed it, or may still execute it.
    case open

    /// Whether a server may have executed it.
    package var mayHaveBeenExecuted: Bool { self >= .done }

    package static func < (one: RequestFate, other: RequestFate) -> Bool { one.rawValue < other.rawValue }

    /// What a response says of the request with this method.
    ///
    /// | status | fate | reason |
    /// |---|---|---|
    /// | 202 | open | the server executes it later (RFC 9110 section 15.3.3) |
    /// | other 2xx | done | the server has executed it |
    /// | 301 | done for POST, else refused | clients follow it with GET after a POST that was executed (section 15.4.2) |
    /// | 302, 303 | done | frameworks send both for a write that was executed (sections 15.4.3 and 15.4.4) |
    /// | other 3xx | refused | the request is for another place (307, 308), or needs no action |
    /// | 408, 460, 463, 499 | open | an intermediary has stopped waiting |
    /// | 421 | unsent | the server does not act on it, and another one may (section 15.5.20) |
    /// | other 4xx | refused | the server does not execute it (section 15.5) |
    /// | 502, 504 | open | a gateway does not know what the server behind it does (sections 15.6.3 and 15.6.5) |
    /// | 520, 522, 524 | open | the same, as Cloudflare says it: no usable response, or none in time |
    /// | 598, 599 | open | the same, as other proxies say it: a timeout towards the server |
    /// | 500, 501, 503, 505 to 511 | done | the server is done with it, and may have failed after the deed |
    /// | 521, 523, 525, 526, 530 | done | Cloudflare has no connection to the server, so nothing is pending |
    /// | any other | open | nobody knows what it means |
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
            case 500, 501, 503, 505...511, 521, 523, 525, 526, 530: .done
            default: .open
            }
    }

    /// What a failure below HTTP says.
    ///
    /// A connection that breaks after sending says nothing about the server.
    package init(_ error: TransportError) {
        self = error.mayHaveBeenSent ? .open : .unsent
    }
}
