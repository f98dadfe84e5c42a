import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The head of a request, with the parts that the server interprets.
struct RequestHead: Equatable {
    /// The framing of the body (RFC 9112 section 6).
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    var method: HTTPMethod
    var target: String
    /// The minor HTTP version: 1 for HTTP/1.1.
    var minorVersion: Int
    var headers: HTTPHeaders
    var framing: Framing
    /// The received bytes of the head, including the empty line at its end.
    var raw: Data

    /// Whether the client allows the connection to be reused (RFC 9112 section 9.3).
    var keepsAlive: Bool {
        let options = headers.list(of: "Connection")
        if options.contains("close") { return false }
        // HTTP/1.0 does not define chunks, so the framing may be wrong and the connection must be closed (RFC 9112
        // section 6.1).
        if minorVersion == 0, framing == .chunked { return false }
        return minorVersion >= 1 || options.contains("keep-alive")
    }

    /// Whether the client waits for "100 Continue" before it sends the body (RFC 9110 section 10.1.1).
    var expectsContinue: Bool {
        minorVersion >= 1 && framing != .length(0) && headers.list(of: "Expect").contains("100-continue")
    }

    var path: String { target.pathOfTarget }
}

extension String {
    /// The path of a request target without the query.
    ///
    /// The target can be a complete URL (RFC 9112 section 3.2.2).
    var pathOfTarget: String {
        let start = before(UInt8(ascii: "?"))
        guard start.utf8.first != UInt8(ascii: "/"), let scheme = start.range(of: "://") else { return String(start) }
        let path = start[scheme.upperBound...].utf8.drop { $0 != UInt8(ascii: "/") }
        return path.isEmpty ? "/" : String(Substring(path))
    }
}

extension HTTPHeaders {
    /// Returns the elements of a comma-separated header field in lower case.
    func list(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }
}
