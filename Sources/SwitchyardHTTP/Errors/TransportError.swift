/// Why an exchange failed below HTTP.
public struct TransportError: Error, Sendable, Hashable {
    /// The kinds of failure, the same for every transport.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The caller cancelled.
        case cancelled
        /// The host name could not be resolved.
        case dnsFailure
        /// Nothing listens at the address, or a proxy reports that it cannot reach the server.
        case connectionRefused
        /// No connection came about within ``HTTPRequest/Timeouts/connect``.
        case connectTimeout
        /// The exchange took longer than a timeout after the connection stood, or than the total.
        case timeout
        /// The peer broke the connection off, with a reset or before a response came.
        case connectionReset
        /// The body ended before its announced end.
        case truncated
        /// What came is not HTTP.
        case protocolViolation
        /// The TLS handshake failed.
        case tlsFailure
        /// The server's certificate was refused: untrusted, expired, wrong host, or not among the pins.
        case certificateRejected
        /// The proxy could not be used.
        case proxyFailure
        /// There is no route: the machine itself is offline.
        case offline
        /// This machine has no file descriptor or memory left for another connection.
        case resourcesExhausted
        /// The response's head is larger than allowed.
        case headersTooLarge
        /// The response's body is larger than ``HTTPRequest/responseBodyLimit``.
        case bodyTooLarge
        /// The request's body could not be read, or is not as long as announced.
        case requestBodyFailed
        /// The body could not be decompressed.
        case decodingFailed
        /// The request is malformed: header, method or URL cannot be sent.
        case invalidRequest
        /// This transport cannot do what the request asks for.
        case unsupported
        /// The transport has been shut down, or could not be created.
        case closed
        /// Anything else; ``TransportError/message`` says what.
        case other
    }

    /// What happened.
    public var kind: Kind
    /// What happened in words, for a log.
    ///
    /// Holds no header and no body.
    public var message: String
    /// The code of the library underneath (libcurl's result code, `URLError`'s code), when there is one.
    public var code: Int?
    /// Whether bytes of the request may have reached the server.
    ///
    /// `false` only if it is certain that none did; then even a request that is not idempotent may be sent again.
    public var mayHaveBeenSent: Bool

    /// Creates an error.
    public init(_ kind: Kind, message: String, code: Int? = nil, mayHaveBeenSent: Bool = true) {
        self.kind = kind
        self.message = message
        self.code = code
        self.mayHaveBeenSent = mayHaveBeenSent
    }
}

extension TransportError {
    /// What a request meets that comes after the end of its transport.
    package static let shutDown = TransportError(
        .closed,
        message: "the transport has been shut down",
        mayHaveBeenSent: false
    )
}

extension TransportError: CustomStringConvertible {
    /// The kind, the code and the message, with credentials hidden.
    public var description: String {
        let words = Redaction.standard.text(message)
        return code.map { "\(kind.rawValue) (\($0)): \(words)" } ?? "\(kind.rawValue): \(words)"
    }
}

extension TransportError: Discreet {}
