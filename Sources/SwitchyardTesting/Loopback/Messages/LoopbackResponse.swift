public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// A response that a ``LoopbackServer`` sends.
///
///     LoopbackResponse(status: 201, headers: ["Location": "/topics/7"])
///     LoopbackResponse.json(#"{"id": 7}"#)
///     LoopbackResponse.stream { writer in
///         for line in lines { try await writer.write(line) }
///     }
///     LoopbackResponse.json("[]").followed(by: Data("unasked".utf8), after: .seconds(2), on: clock)
///
/// The server adds `Content-Length` or `Transfer-Encoding`, and `Connection` if necessary. If the handler sets
/// `Content-Length` itself, its value is sent unchanged, even if it is wrong.
public struct LoopbackResponse: Sendable {
    /// The way in which the client finds the end of the body.
    public enum Framing: Sendable, Hashable {
        /// `Content-Length` if the length is known, and chunks otherwise.
        ///
        /// HTTP/1.0 clients do not support chunks. If the length is unknown, the server therefore marks the end of the
        /// body by closing the connection.
        case automatic
        /// Chunked transfer coding (RFC 9112 section 7.1), with one chunk for each call of the writer.
        case chunked
        /// The end of the connection, without a header field that announces the length.
        case untilClose
    }

    /// The status code.
    public var status: Int
    /// The reason phrase, or `nil` for the registered phrase of the status code.
    public var reason: String?
    /// The header fields, which are sent unchanged and in this order.
    public var headers: HTTPHeaders
    /// The body.
    public var body: LoopbackBody
    /// The trailer fields, which are sent after a chunked body.
    ///
    /// With any other framing, they are ignored.
    public var trailers: HTTPHeaders
    /// The way in which the client finds the end of the body.
    public var framing: Framing
    /// Whether the server sends `Connection: close` and closes the connection after the response.
    public var closesConnection: Bool
    /// Raw bytes that are sent instead of the other properties, or `nil` for a normal response.
    ///
    /// After raw bytes, the connection is closed.
    var rawBytes: Data?
    /// Unsolicited bytes that are sent after the response and do not belong to it.
    var followers: [Follower] = []

    /// Creates a response.
    public init(
        status: Int = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        body: LoopbackBody = .empty,
        trailers: HTTPHeaders = HTTPHeaders(),
        framing: Framing = .automatic
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.trailers = trailers
        self.framing = framing
        closesConnection = false
    }
}

extension LoopbackResponse {
    /// Creates a response from a status, header fields and a body, like ``StubResponse/status(_:headers:body:)``.
    public static func status(_ status: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> LoopbackResponse {
        LoopbackResponse(status: status, headers: headers, body: body.isEmpty ? .empty : .data(body))
    }

    /// Creates a plain-text response.
    public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        typed("text/plain; charset=utf-8", Data(text.utf8), status, headers)
    }

    /// Creates a response from JSON text, which is not validated.
    public static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        json(Data(text.utf8), status: status, headers: headers)
    }

    /// Creates a response from JSON bytes, which are not validated.
    public static func json(_ bytes: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        typed("application/json", bytes, status, headers)
    }

    /// Creates a response from bytes.
    public static func data(_ bytes: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        typed("application/octet-stream", bytes, status, headers)
    }

    /// Creates a response with a content type.
    ///
    /// If the header fields contain `Content-Type`, they take precedence.
    private static func typed(_ type: String, _ bytes: Data, _ status: Int, _ headers: HTTPHeaders) -> LoopbackResponse
    {
        let fields = HTTPHeaders([.contentType(type)]).overridden(by: headers)
        return LoopbackResponse(status: status, headers: fields, body: .data(bytes))
    }

    /// Creates a response whose body is written while it is sent.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: The header fields.
    ///   - length: The number of bytes that will be written. The response announces this number. If it is `nil`, the
    ///     body is sent in chunks.
    ///   - produce: A closure that writes the body. If the closure throws an error, the connection is closed before the
    ///     response is complete.
    /// - Returns: The response.
    public static func stream(
        status: Int = 200,
        headers: HTTPHeaders = [:],
        length: Int? = nil,
        _ produce: @escaping @Sendable (LoopbackBodyWriter) async throws -> Void
    ) -> LoopbackResponse {
        LoopbackResponse(status: status, headers: headers, body: .stream(length: length, produce))
    }

    /// Creates a response from raw bytes, including the head.
    ///
    /// Use it for output that no correct server would send.
    ///
    /// The connection is closed after these bytes.
    public static func raw(_ bytes: Data) -> LoopbackResponse {
        var response = LoopbackResponse()
        response.rawBytes = bytes
        return response
    }
}

// MARK: - Bytes after a response

/// Unsolicited bytes that are sent after a response and do not belong to it.
struct Follower: Sendable {
    let bytes: Data
    let delay: Duration
    let time: any TimeSource
}

extension LoopbackResponse {
    /// Returns a copy of the response that is followed by unsolicited bytes, as from a broken or hostile server.
    ///
    /// The bytes are sent unchanged on the connection of the response, without a further request. Delayed bytes are
    /// sent as soon as their delay has passed, even before a later response or in the middle of a later body. If the
    /// connection is closed after the response, only bytes without a delay are sent. If a fault cuts the response, no
    /// bytes are sent.
    ///
    /// - Parameters:
    ///   - bytes: The unsolicited bytes. Several calls add several groups of bytes, in order.
    ///   - delay: The time from the end of the response. If zero, the bytes are sent together with the end of the
    ///     response.
    ///   - time: The clock of the delay. The default is the system's clock.
    /// - Returns: The response.
    public func followed(
        by bytes: Data,
        after delay: Duration = .zero,
        on time: any TimeSource = SystemTime.shared
    ) -> LoopbackResponse {
        var response = self
        response.followers.append(Follower(bytes: bytes, delay: delay, time: time))
        return response
    }
}
