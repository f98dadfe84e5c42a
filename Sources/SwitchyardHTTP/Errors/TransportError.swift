/// An error below HTTP that prevented an exchange from completing.
public struct TransportError: Error, Sendable, Hashable {
    /// A kind of transport failure.
    ///
    /// All transports use the same kinds.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The exchange was cancelled by the app or by the client.
        case cancelled
        /// The host name could not be resolved.
        case dnsFailure
        /// No process listens at the address, or a proxy reports that it cannot reach the server.
        case connectionRefused
        /// No connection was established within ``HTTPRequest/Timeouts/connect``.
        case connectTimeout
        /// The exchange exceeded its total timeout, or another timeout after the connection was established.
        case timeout
        /// The peer closed the connection with a reset or before it responded.
        case connectionReset
        /// The body ended before its announced length.
        case truncated
        /// The data that the peer sent is not valid HTTP.
        case protocolViolation
        /// The TLS handshake failed.
        case tlsFailure
        /// The server's certificate was rejected: untrusted, expired, for another host, or not pinned.
        case certificateRejected
        /// The connection through the proxy failed.
        case proxyFailure
        /// There is no route, because this machine is offline.
        case offline
        /// This machine has no file descriptors, memory or threads for another connection.
        case resourcesExhausted
        /// The response's header section is larger than allowed.
        case headersTooLarge
        /// The response body is larger than ``HTTPRequest/responseBodyLimit``.
        case bodyTooLarge
        /// The request body could not be read, or its length differs from the announced length.
        case requestBodyFailed
        /// The response body could not be decompressed.
        case decodingFailed
        /// The request is malformed, because a header field, the method or the URL cannot be sent.
        case invalidRequest
        /// The transport does not support what the request requires.
        case unsupported
        /// The transport has been shut down, or could not be created.
        case closed
        /// Any other failure, which ``TransportError/message`` describes.
        case other
    }

    /// The kind of failure.
    public var kind: Kind
    /// A description of the failure for a log, without header fields and body.
    public var message: String
    /// The error code of the underlying library (a libcurl result code or a `URLError` code), or `nil` if there is
    /// none.
    public var code: Int?
    /// Whether bytes of the request may have reached the server.
    ///
    /// The value is `false` only if certainly no byte has reached the server. In this case even a request that is not
    /// idempotent may be resent.
    public var mayHaveBeenSent: Bool

    /// Creates an error; by default, the request may have been sent.
    public init(_ kind: Kind, message: String, code: Int? = nil, mayHaveBeenSent: Bool = true) {
        self.kind = kind
        self.message = message
        self.code = code
        self.mayHaveBeenSent = mayHaveBeenSent
    }
}

extension TransportError {
    /// The error of a request that starts after its transport was shut down.
    package static let shutDown = TransportError(
        .closed,
        message: "the transport has been shut down",
        mayHaveBeenSent: false
    )
}

extension TransportError: CustomStringConvertible {
    /// The kind, the code and the message with credentials redacted.
    public var description: String {
        let words = Redaction.standard.text(message)
        return code.map { "\(kind.rawValue) (\($0)): \(words)" } ?? "\(kind.rawValue): \(words)"
    }
}

extension TransportError: RedactedDescribable {}
