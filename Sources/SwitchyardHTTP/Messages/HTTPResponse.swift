public import Foundation
public import SwitchyardServices

/// A response as a ``/SwitchyardTransport/Transport`` returns it, with any status and not yet validated.
public struct HTTPResponse: Sendable {
    /// The body of a response.
    public enum Body: Sendable {
        /// The complete body.
        case whole(Data)
        /// The body as a stream.
        case stream(HTTPBodyStream)
    }

    @usableFromInline struct Parts: Sendable {
        @usableFromInline var status: Int
        @usableFromInline var headers: HTTPHeaders
        @usableFromInline var body: Body
        @usableFromInline var metrics: TransferMetrics?
        @usableFromInline var bodyFailure: TransportError?
    }

    /// The status code.
    public var status: Int {
        @inlinable get { parts.value.status }
        @inlinable set { parts.value.status = newValue }
    }
    /// The header fields in the order received.
    ///
    /// Repeated fields are not merged.
    public var headers: HTTPHeaders {
        @inlinable get { parts.value.headers }
        @inlinable _modify { yield &parts.value.headers }
    }
    /// The body.
    public var body: Body {
        @inlinable get { parts.value.body }
        @inlinable _modify { yield &parts.value.body }
    }
    /// The metrics of the exchange, or `nil` if the transport does not measure them.
    public var metrics: TransferMetrics? {
        @inlinable get { parts.value.metrics }
        @inlinable set { parts.value.metrics = newValue }
    }

    /// The error that made the body incomplete: the body was truncated, could not be decoded, or was larger than
    /// allowed.
    ///
    /// The value is `nil` if the body is complete or streamed. Only error responses (status 400 and above) and
    /// redirects can have a value, because their status and header section are useful without a complete body. Such a
    /// request completes with the status and the received part of the body. For any other response, a failure of the
    /// body makes the request fail.
    public var bodyFailure: TransportError? {
        @inlinable get { parts.value.bodyFailure }
        @inlinable set { parts.value.bodyFailure = newValue }
    }

    /// All parts are stored behind one reference, because a response is copied many times.
    @usableFromInline var parts: CopyOnWrite<Parts>

    /// Creates a response, by default with an empty body.
    public init(
        status: Int,
        headers: HTTPHeaders = HTTPHeaders(),
        body: Body = .whole(Data()),
        metrics: TransferMetrics? = nil
    ) {
        parts = CopyOnWrite(Parts(status: status, headers: headers, body: body, metrics: metrics))
    }
}

extension HTTPResponse {
    /// Creates the response of a transfer that failed during the body, or returns `nil` if the failure makes the
    /// response unusable.
    ///
    /// - Parameters:
    ///   - head: The response with its status and header fields.
    ///   - partialBody: A closure that returns the received part of the body.
    ///   - error: The error that ended the transfer.
    package init?(_ head: HTTPResponse, partialBody: () -> Data, failedWith error: TransportError) {
        guard head.status >= 400 || head.redirectTarget != nil, error.kind.isOfBody else { return nil }
        self = head
        body = .whole(partialBody())
        bodyFailure = error
    }
}

extension TransportError.Kind {
    /// Whether the failure may occur in the body, after a complete header section.
    fileprivate var isOfBody: Bool {
        switch self {
        case .truncated, .decodingFailed, .bodyTooLarge, .connectionReset, .protocolViolation, .timeout,
            .requestBodyFailed:
            true
        default: false
        }
    }
}

extension TransportError {
    /// Returns the error, and adds the content codings to its message if the body could not be decoded.
    package func naming(codings headers: HTTPHeaders) -> TransportError {
        guard kind == .decodingFailed, let codings = headers["Content-Encoding"] else { return self }
        var error = self
        error.message += " (Content-Encoding: \(codings))"
        return error
    }
}

extension HTTPResponse {
    /// The whole body, or `nil` if the body is streamed (``Body/stream(_:)``).
    ///
    /// A body is streamed only if `APIConfiguration.delivery` or `NetworkClient.stream()` requests it.
    public var data: Data? {
        if case .whole(let data) = body { data } else { nil }
    }

    /// The whole body as text, or `nil` if the body is streamed or is not valid text.
    ///
    /// The encoding is taken from a byte order mark, otherwise from the charset of `Content-Type`. If both are missing,
    /// the encoding is UTF-8.
    public var text: String? {
        guard let data else { return nil }
        let charset = headers.contentType.flatMap { MediaType($0)?.charset }
        return try? TextEncoding.decoded(data, named: charset)
    }
}

extension HTTPResponse {
    /// Returns the first bytes of the body, up to the limit or to a failure.
    package func collectPrefix(_ limit: Int) async -> Data {
        guard case .stream(let stream) = body else {
            if case .whole(let data) = body { return data.prefix(max(0, limit)) }
            return Data()
        }
        var bytes = Data()
        var pieces = stream.makeAsyncIterator()
        // The received part of a truncated error page still helps to find the cause.
        while bytes.count < limit, let piece = try? await pieces.next() { bytes.append(piece) }
        stream.cancel()
        return bytes.prefix(max(0, limit))
    }
}

/// A response body that is read as it arrives.
///
/// If the app reads slowly, backpressure slows the server down. The body can be read only once.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    /// A chunk of the body, which is never empty.
    public typealias Element = Data
    /// The error that ends a body early.
    public typealias Failure = TransportError

    private struct Source: Sendable {
        let next: @Sendable () async throws(TransportError) -> Data?
        let cancel: @Sendable () -> Void
        var connection: (any OpenedConnection)?
    }

    private let source: Boxed<Source>

    /// The connection that a 101 (Switching Protocols) response has opened, or `nil` for any other response.
    package var connection: (any OpenedConnection)? { source.value.connection }

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - cancel: A closure that ends the body: a reader that waits for the next chunk gets
    ///     ``/SwitchyardServices/WireFailure/cancelled``. It may be called at any time, and more than once. By default
    ///     it does nothing, so cancellation takes effect with the next chunk.
    ///   - next: A closure that returns the next chunk, or `nil` at the end.
    public init(
        cancel: @escaping @Sendable () -> Void = {},
        next: @escaping @Sendable () async throws(TransportError) -> Data?
    ) {
        source = Boxed(Source(next: next, cancel: cancel))
    }

    /// Creates the receiving half of an opened connection.
    package init(
        connection: any OpenedConnection,
        cancel: @escaping @Sendable () -> Void,
        next: @escaping @Sendable () async throws(TransportError) -> Data?
    ) {
        source = Boxed(Source(next: next, cancel: cancel, connection: connection))
    }

    /// Stops the transfer, from any thread, even if no reader is active.
    ///
    /// Calling this method after the end of the transfer has no effect.
    public func cancel() {
        source.value.cancel()
    }

    /// Returns an iterator over the chunks of the body.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(nextPiece: source.value.next)
    }

    /// An iterator over the chunks of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPiece: @Sendable () async throws(TransportError) -> Data?

        /// Returns the next chunk, or `nil` at the end.
        ///
        /// - Throws: ``TransportError`` if the body fails.
        public mutating func next() async throws(TransportError) -> Data? {
            try await nextPiece()
        }

        /// Returns the next chunk, or `nil` at the end.
        ///
        /// The isolation that is passed in has no effect.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransportError) -> Data? {
            try await nextPiece()
        }
    }
}

/// The times and byte counts of one exchange.
///
/// All durations are measured from the start of the exchange.
public struct TransferMetrics: Sendable, Hashable {
    /// The time until the host name was resolved.
    public var nameLookup: Duration? {
        get { packedNameLookup.value }
        set { packedNameLookup = PackedDuration(newValue) }
    }
    /// The time until the TCP connection was established.
    public var connected: Duration? {
        get { packedConnected.value }
        set { packedConnected = PackedDuration(newValue) }
    }
    /// The time until the TLS handshake was completed, or `nil` without TLS.
    public var secured: Duration? {
        get { packedSecured.value }
        set { packedSecured = PackedDuration(newValue) }
    }
    /// The time until the first byte of the response.
    public var firstByte: Duration? {
        get { packedFirstByte.value }
        set { packedFirstByte = PackedDuration(newValue) }
    }
    /// The time until the last byte of the response.
    public var total: Duration
    /// The number of bytes of the request body that were sent.
    public var bytesSent: Int64
    /// The number of bytes of the response body that were received, before decoding.
    public var bytesReceived: Int64
    /// Whether the exchange reused a connection.
    public var reusedConnection: Bool
    /// The protocol, such as `http/1.1` or `h2`.
    public var networkProtocol: String?

    private var packedNameLookup = PackedDuration(nil)
    private var packedConnected = PackedDuration(nil)
    private var packedSecured = PackedDuration(nil)
    private var packedFirstByte = PackedDuration(nil)

    /// Creates metrics.
    public init(total: Duration) {
        self.total = total
        bytesSent = 0
        bytesReceived = 0
        reusedConnection = false
    }
}

extension HTTPResponse {
    /// The target of a redirect, or `nil` if the response is not a redirect.
    ///
    /// Status 300 offers a choice and status 304 refers to a stored response, so a `Location` of such a response is not
    /// followed.
    package var redirectTarget: String? {
        switch status {
        case 301, 302, 303, 307, 308:
            headers.echo(of: "Location").flatMap { $0.isEmpty ? nil : OpaqueText.percentEncoded($0) }
        default: nil
        }
    }
}
