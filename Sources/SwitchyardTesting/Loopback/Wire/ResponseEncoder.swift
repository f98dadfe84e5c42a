import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// An encoder that turns a response into HTTP/1.1 bytes (RFC 9112).
struct ResponseEncoder {
    /// The way in which the end of the body is announced.
    enum Framing: Equatable {
        /// There is no body, regardless of the header fields.
        case none
        case length
        case chunked
        case untilClose
    }

    let head: Data
    let framing: Framing
    let keepsAlive: Bool

    /// Creates an encoder and encodes the head of the response.
    ///
    /// - Parameters:
    ///   - response: The response to encode.
    ///   - request: The head of the request, or `nil` if it could not be parsed.
    ///   - closes: Whether the server closes the connection even if the response and the request allow the connection
    ///     to stay open.
    ///   - lengthError: The number that is added to the announced length, to simulate a faulty server.
    init(_ response: LoopbackResponse, to request: RequestHead?, closes: Bool, lengthError: Int = 0) {
        let isOld = (request?.minorVersion ?? 1) == 0
        let framing = lengthError == 0 ? Self.framing(of: response, isOld: isOld) : .length
        let hidesBody = request?.method == .head || Self.forbidsBody(response.status)
        keepsAlive =
            !closes && request?.keepsAlive == true && !response.closesConnection
            && (hidesBody || framing != .untilClose)
        var headers = response.headers
        if lengthError != 0 { headers.remove("Content-Length") }
        if !Self.forbidsBody(response.status) {
            let (length, isTooLarge) = (response.body.length ?? 0).addingReportingOverflow(lengthError)
            headers.announce(framing, length: isTooLarge ? .max : max(0, length))
        }
        if !keepsAlive {
            headers.set("Connection", "close")
        } else if isOld {
            headers.set("Connection", "keep-alive")
        }
        if !response.trailers.isEmpty, framing == .chunked, headers["Trailer"] == nil {
            headers.add("Trailer", response.trailers.map(\.name).joined(separator: ", "))
        }
        self.framing = hidesBody ? .none : framing
        head = Self.encode(status: response.status, reason: response.reason, headers: headers)
    }

    /// Returns the framed bytes of a part of the body, for example as an HTTP chunk.
    func frame(_ piece: Data) -> Data {
        guard framing == .chunked else { return piece }
        guard !piece.isEmpty else { return Data() }
        var framed = Data(capacity: piece.count + 16)
        framed.append(contentsOf: Array("\(String(piece.count, radix: 16))\r\n".utf8))
        framed.append(piece)
        framed.append(contentsOf: [13, 10])
        return framed
    }

    /// Returns the bytes that end the body, for example the last chunk and the trailers.
    func end(trailers: HTTPHeaders) -> Data {
        guard framing == .chunked else { return Data() }
        var text = "0\r\n"
        for field in trailers { text += "\(field.name): \(field.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    /// Encodes a status line and header fields without changes.
    static func encode(status: Int, reason: String?, headers: HTTPHeaders) -> Data {
        var text = "HTTP/1.1 \(status) \(reason ?? StatusText.reason(for: status))\r\n"
        for field in headers {
            text += field.name
            text += ": "
            text += field.value
            text += "\r\n"
        }
        text += "\r\n"
        return Data(text.utf8)
    }

    private static func forbidsBody(_ status: Int) -> Bool {
        status < 200 || status == 204 || status == 304
    }

    private static func framing(of response: LoopbackResponse, isOld: Bool) -> Framing {
        switch response.framing {
        case .automatic: response.body.length != nil ? .length : isOld ? .untilClose : .chunked
        case .chunked: isOld ? .untilClose : .chunked
        case .untilClose: .untilClose
        }
    }
}

extension HTTPHeaders {
    /// Adds the header field that announces the framing, unless the handler has set such a field itself.
    fileprivate mutating func announce(_ framing: ResponseEncoder.Framing, length: Int) {
        guard self["Content-Length"] == nil, self["Transfer-Encoding"] == nil else { return }
        switch framing {
        case .length: add("Content-Length", "\(length)")
        case .chunked: add("Transfer-Encoding", "chunked")
        case .none, .untilClose: break
        }
    }
}

/// The reason phrases of the status codes (RFC 9110 section 15).
enum StatusText {
    static func reason(for status: Int) -> String {
        reasons[status] ?? "Status"
    }

    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted",
        203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
        407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 418: "I'm a teapot",
        421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
