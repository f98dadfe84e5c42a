public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// What a ``LoopbackServer`` answers.
///
///     LoopbackResponse(status: 201, headers: ["Location": "/topics/7"])
///     LoopbackResponse.json(#"{"id": 7}"#)
///     LoopbackResponse.stream { writer in
///         for line in lines { try await writer.write(line) }
///     }
///     LoopbackResponse.json("[]").followed(by: Data("unasked".utf8), after: .seconds(2), on: clock)
///
/// The server adds `Content-Length` or `Transfer-Encoding`, and `Connection` where it is needed; a length that the
/// handler sets itself is sent as it is, right or wrong.
public struct LoopbackResponse: Sendable {
    /// How the client learns where the body ends.
    public enum Framing: Sendable, Hashable {
        /// By its length if that is known, otherwise in chunks; to an HTTP/1.0 client by closing the connection.
        case automatic
        /// In chunks (RFC 9112 section 7.1), each as large as the piece that was written.
        case chunked
        /// By closing the connection, without any announcement.
        case untilClose
    }

    /// The status code.
    public var status: Int
    /// The reason phrase; `nil` is the registered one.
    public var reason: String?
    /// The header fields, in order; sent as they are.
    public var headers: HTTPHeaders
    /// The body.
    public var body: LoopbackBody
    /// The fields behind a body that is sent in chunks; ignored with any other framing.
    public var trailers: HTTPHeaders
    /// How the client learns where the body ends.
    public var framing: Framing
    /// Whether the server closes the connection afterwards, and says so.
    public var closesConnection: Bool
    /// Bytes to be sent in place of everything above; the connection is closed behind them.
    var rawBytes: Data?
    /// Bytes that come behind the response without being a part of it.
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
    /// Creates a response of a status, header fields and a body, as ``StubAnswer/status(_:headers:body:)`` does.
    public static func status(_ status: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> LoopbackResponse {
        LoopbackResponse(status: status, headers: headers, body: body.isEmpty ? .empty : .data(body))
    }

    /// Creates a response of plain text.
    public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        typed("text/plain; charset=utf-8", Data(text.utf8), status, headers)
    }

    /// Creates a response of JSON text, which is not checked.
    public static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        json(Data(text.utf8), status: status, headers: headers)
    }

    /// Creates a response of JSON bytes, which are not checked.
    public static func json(_ bytes: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        typed("application/json", bytes, status, headers)
    }

    /// Creates a response of bytes.
    public static func data(_ bytes: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        typed("application/octet-stream", bytes, status, headers)
    }

    /// A response of a type, unless the header fields name another.
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
    ///   - length: The number of bytes that will be written, to be announced; `nil` sends them in chunks.
    ///   - produce: Writes the body. When it throws, the connection is broken off.
    /// - Returns: The response.
    public static func stream(
        status: Int = 200,
        headers: HTTPHeaders = [:],
        length: Int? = nil,
        _ produce: @escaping @Sendable (LoopbackBodyWriter) async throws -> Void
    ) -> LoopbackResponse {
        LoopbackResponse(status: status, headers: headers, body: .stream(length: length, produce))
    }

    /// Creates a response of exactly these bytes, head included, for what no well-behaved server would send.
    ///
    /// The connection is closed behind them.
    public static func raw(_ bytes: Data) -> LoopbackResponse {
        var response = LoopbackResponse()
        response.rawBytes = bytes
        return response
    }
}

// MARK: - Bytes behind a response

/// Bytes that come behind a response without being a part of it.
struct Follower: Sendable {
    let bytes: Data
    let delay: Duration
    let time: any TimeSource
}

extension LoopbackResponse {
    /// Returns the response with bytes behind it that nobody asked for, as a broken or hostile server sends them.
    ///
    /// They go out as they are, on the connection of the response and without another request. Those with a delay come
    /// when they are due, even in front of the response or between two pieces of the body of a later request. A
    /// connection that is closed behind the response carries only those without a delay; one that is cut within the
    /// response carries none.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; several calls send theirs in turn.
    ///   - delay: From the end of the response; without it the bytes come together with that end.
    ///   - time: The clock of the delay; the system's unless given.
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
