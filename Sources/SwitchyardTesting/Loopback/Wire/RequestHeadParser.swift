import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A strict parser of complete request heads.
///
/// A lenient parser would allow request smuggling.
enum RequestHeadParser {
    /// Parses a head whose lines all end with CR LF, including the empty last line.
    static func parse(_ bytes: ArraySlice<UInt8>) throws(LoopbackError) -> RequestHead {
        var lines = HeadLines(bytes)
        guard let first = lines.next() else { throw .bad("the head must not be empty") }
        let (method, target, minorVersion) = try parseRequestLine(first)
        let headers = try parseFields(&lines)
        if minorVersion >= 1, headers.values(of: "Host").count != 1 {
            throw .bad("the head must have exactly one Host field")
        }
        return RequestHead(
            method: method,
            target: target,
            minorVersion: minorVersion,
            headers: headers,
            framing: try framing(of: headers),
            raw: Data(bytes)
        )
    }

    /// Parses header or trailer fields up to the empty line.
    static func parseFields(_ lines: inout HeadLines) throws(LoopbackError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        while let line = lines.next(), !line.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .bad("a field must have a colon") }
            // This check also rejects a space before the colon and a folded line, because a field name contains no
            // space.
            guard let name = token(line[..<colon]) else { throw .bad("a field name must be a token") }
            let value = line[(colon + 1)...].trimmingBlanks()
            guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .bad("a field value must not have a control character")
            }
            headers.add(name, String(decoding: value, as: UTF8.self))
        }
        return headers
    }

    private static func parseRequestLine(
        _ line: ArraySlice<UInt8>
    ) throws(LoopbackError) -> (HTTPMethod, String, Int) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .bad("the request line must have three parts") }
        guard let name = token(parts[0]), let method = HTTPMethod(name) else {
            throw .bad("the method must be a token")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .bad("the target must not be empty or have control characters")
        }
        let target = String(decoding: parts[1], as: UTF8.self)
        switch String(decoding: parts[2], as: UTF8.self) {
        case "HTTP/1.1": return (method, target, 1)
        case "HTTP/1.0": return (method, target, 0)
        case let version where version.hasPrefix("HTTP/"):
            throw .badRequest(status: 505, reason: "the version must be HTTP/1.0 or HTTP/1.1")
        default: throw .bad("the request line must end with a version")
        }
    }

    /// Determines the framing of the body (RFC 9112 section 6.3).
    ///
    /// A request with both `Content-Length` and `Transfer-Encoding` may be a smuggling attack and is rejected.
    private static func framing(of headers: HTTPHeaders) throws(LoopbackError) -> RequestHead.Framing {
        let lengths = headers.values(of: "Content-Length")
        // A field with an empty value also counts, because another server could use it for the framing.
        guard headers["Transfer-Encoding"] == nil else {
            guard lengths.isEmpty else {
                throw .bad("the head must not have both Content-Length and Transfer-Encoding")
            }
            guard headers.list(of: "Transfer-Encoding") == ["chunked"] else {
                throw .badRequest(status: 501, reason: "the transfer coding must be chunked")
            }
            return .chunked
        }
        guard let text = lengths.first else { return .length(0) }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy(\.isDigit),
            let length = Int(text)
        else { throw .bad("Content-Length must be one number") }
        return .length(length)
    }

    private static func token(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return HTTPMethod(text).map(\.name)
    }
}

/// The lines of a head, without their CR LF.
struct HeadLines {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: 10) else { return nil }
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        return line.last == 13 ? line.dropLast() : line
    }
}

extension LoopbackError {
    /// Returns the error for a request that is rejected with status 400.
    static func bad(_ reason: String) -> LoopbackError {
        .badRequest(status: 400, reason: reason)
    }
}

extension ArraySlice<UInt8> {
    /// Returns the bytes without the spaces and tabs at both ends.
    func trimmingBlanks() -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return []
        }
        return self[first...last]
    }
}
