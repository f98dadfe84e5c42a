import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The head of a request, as far as a server has to understand it.
struct RequestHead: Equatable {
    /// How the length of the body is told (RFC 9112 section 6).
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    var method: HTTPMethod
    var target: String
    /// The 1 of HTTP/1.1.
    var minorVersion: Int
    var headers: HTTPHeaders
    var framing: Framing
    /// The bytes that came, the empty line included.
    var raw: Data

    /// Whether the client wants to use the connection again (RFC 9112 section 9.3).
    var keepsAlive: Bool {
        let options = headers.list(of: "Connection")
        if options.contains("close") { return false }
        // Its framing is faulty, as older clients know no chunks (RFC 9112 section 6.1).
        if minorVersion == 0, framing == .chunked { return false }
        return minorVersion >= 1 || options.contains("keep-alive")
    }

    /// Whether the client waits for "100 Continue" before it sends the body (RFC 9110 section 10.1.1).
    var expectsContinue: Bool {
        minorVersion >= 1 && framing != .length(0) && headers.list(of: "Expect").contains("100-continue")
    }

    /// The path of the target.
    var path: String { target.pathOfTarget }
}

extension String {
    /// The path of a request's target, without the query; the target may be a whole URL (RFC 9112 section 3.2.2).
    var pathOfTarget: String {
        let start = before(UInt8(ascii: "?"))
        guard start.utf8.first != UInt8(ascii: "/"), let scheme = start.range(of: "://") else { return String(start) }
        let path = start[scheme.upperBound...].utf8.drop { $0 != UInt8(ascii: "/") }
        return path.isEmpty ? "/" : String(Substring(path))
    }
}

extension HTTPHeaders {
    /// The members of a comma-separated field, in lower case.
    func list(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }
}
