public import Foundation
public import SwitchyardServices

/// A response as it comes from a ``/SwitchyardTransport/Transport``: any status, interpreted by nobody yet.
public struct HTTPResponse: Sendable {
    /// The body of a response.
    public enum Body: Sendable {
        /// The complete body.
        case whole(Data)
        /// The body as it arrives.
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
    /// The header fields, in the order in which they came; repeated fields stay apart.
    public var headers: HTTPHeaders {
        @inlinable get { parts.value.headers }
        @inlinable _modify { yield &parts.value.headers }
    }
    /// The body.
    public var body: Body {
        @inlinable get { parts.value.body }
        @inlinable _modify { yield &parts.value.body }
    }
    /// What the exchange cost; `nil` when the transport does not measure.
    public var metrics: TransferMetrics? {
        @inlinable get { parts.value.metrics }
        @inlinable set { parts.value.metrics = newValue }
    }

    /// Why the body is not whole: it broke off, could not be decoded, or is larger than allowed; `nil` when it is whole,
    /// and while it is streamed.
    ///
    /// Only of answers whose head says what matters, errors (from 400 on) and redirects: the call ends with their status,
    /// and what came of the body is there. Every other answer whose body fails is a failure.
    public var bodyFailure: TransportError? {
        @inlinable get { parts.value.bodyFailure }
        @inlinable set { parts.value.bodyFailure = newValue }
    }

    /// All parts behind one reference, since a response passes through many hands.
    @usableFromInline var parts: CopyOnWrite<Parts>

    /// Creates a response.
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
    /// The answer that a failed transfer is, since its head says what matters; `nil` when it is none.
    ///
    /// - Parameters:
    ///   - head: The answer as far as its head goes.
    ///   - partialBody: What came of the body.
    ///   - error: Why no more came.
    package init?(_ head: HTTPResponse, partialBody: () -> Data, failedWith error: TransportError) {
        guard head.status >= 400 || head.redirectTarget != nil, error.kind.isOfBody else { return nil }
        self = head
        body = .whole(partialBody())
        bodyFailure = error
    }
}

extension TransportError.Kind {
    /// Whether it can be the body alone that has failed.
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
    /// Says of a body that could not be decoded what its coding was.
    package func naming(codings headers: HTTPHeaders) -> TransportError {
        guard kind == .decodingFailed, let codings = headers["Content-Encoding"] else { return self }
        var error = self
        error.message += " (Content-Encoding: \(codings))"
        return error
    }
}

extension HTTPResponse {
    /// The whole body; `nil` for one that is read as it arrives (``Body/stream(_:)``).
    ///
    /// That comes only where it was asked for, by `APIConfiguration.delivery` or `NetworkClient.stream()`.
    public var data: Data? {
        if case .whole(let data) = body { data } else { nil }
    }

    /// The whole body as text; `nil` for one that is read as it arrives, and for bytes that are no text.
    ///
    /// A byte order mark says the encoding, else the charset of `Content-Type`; without either it is UTF-8.
    public var text: String? {
        guard let data else { return nil }
        let charset = headers.contentType.flatMap { MediaType($0)?.charset }
        return try? TextEncoding.decoded(data, named: charset)
    }
}

extension HTTPResponse {
    /// The first bytes of the body; what breaks it off ends them.
    package func collectPrefix(_ limit: Int) async -> Data {
        guard case .stream(let stream) = body else {
            if case .whole(let data) = body { return data.prefix(max(0, limit)) }
            return Data()
        }
        var bytes = Data()
        var pieces = stream.makeAsyncIterator()
        // An error page that breaks off is still worth what has come of it.
        while bytes.count < limit, let piece = try? await pieces.next() { bytes.append(piece) }
        stream.cancel()
        return bytes.prefix(max(0, limit))
    }
}

/// A response body that is read as it arrives.
///
/// Reading slowly slows the server down; it can be read once.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    /// One piece of the body, never empty.
    public typealias Element = Data
    /// The failure that ends a body early.
    public typealias Failure = TransportError

    private struct Source: Sendable {
        let next: @Sendable () async throws(TransportError) -> Data?
        let cancel: @Sendable () -> Void
        var connection: (any OpenedConnection)?
    }

    private let source: Boxed<Source>

    /// The connection that a 101 (Switching Protocols) has handed over; `nil` for the body of every other response.
    package var connection: (any OpenedConnection)? { source.value.connection }

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - cancel: Ends the body from outside: whoever waits for the next piece gets ``TransportError/Kind/cancelled``.
    ///     May come at any time, and more than once. Without it a cancel takes effect with the next piece.
    ///   - next: Returns the next piece, or `nil` at the end.
    public init(
        cancel: @escaping @Sendable () -> Void = {},
        next: @escaping @Sendable () async throws(TransportError) -> Data?
    ) {
        source = Boxed(Source(next: next, cancel: cancel))
    }

    /// Creates the receiving half of a connection that has been handed over.
    package init(
        connection: any OpenedConnection,
        cancel: @escaping @Sendable () -> Void,
        next: @escaping @Sendable () async throws(TransportError) -> Data?
    ) {
        source = Boxed(Source(next: next, cancel: cancel, connection: connection))
    }

    /// Stops the transfer, from any thread, whether somebody is reading or not; harmless after the end.
    public func cancel() {
        source.value.cancel()
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(nextPiece: source.value.next)
    }

    /// Reads the body piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPiece: @Sendable () async throws(TransportError) -> Data?

        /// Returns the next piece, or `nil` at the end.
        ///
        /// - Throws: ``TransportError`` when the body breaks off.
        public mutating func next() async throws(TransportError) -> Data? {
            try await nextPiece()
        }

        /// Returns the next piece, or `nil` at the end; the isolation of the caller plays no part.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransportError) -> Data? {
            try await nextPiece()
        }
    }
}

/// Where the time of one exchange went.
///
/// All durations count from its start.
public struct TransferMetrics: Sendable, Hashable {
    /// Until the name was resolved.
    public var nameLookup: Duration? {
        get { packedNameLookup.value }
        set { packedNameLookup = PackedDuration(newValue) }
    }
    /// Until the TCP connection stood.
    public var connected: Duration? {
        get { packedConnected.value }
        set { packedConnected = PackedDuration(newValue) }
    }
    /// Until the TLS handshake was done; `nil` without TLS.
    public var secured: Duration? {
        get { packedSecured.value }
        set { packedSecured = PackedDuration(newValue) }
    }
    /// Until the first byte of the response.
    public var firstByte: Duration? {
        get { packedFirstByte.value }
        set { packedFirstByte = PackedDuration(newValue) }
    }
    /// Until the last byte of the response.
    public var total: Duration
    /// Bytes of the request's body sent.
    public var bytesSent: Int64
    /// Bytes of the response's body received, as on the wire.
    public var bytesReceived: Int64
    /// Whether a kept-alive connection was used.
    public var reusedConnection: Bool
    /// The protocol: `http/1.1`, `h2`.
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
    /// Where the answer points; `nil` for every answer that is no redirect.
    ///
    /// 300 offers a choice and 304 is about a stored answer: neither is followed, whatever it names.
    package var redirectTarget: String? {
        switch status {
        case 301, 302, 303, 307, 308:
            headers.echo(of: "Location").flatMap { $0.isEmpty ? nil : OpaqueText.percentEncoded($0) }
        default: nil
        }
    }
}
