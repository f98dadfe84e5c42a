// `WireFailure`, the kind of a `TransportError`, is declared in SwitchyardServices, because the code that chooses a
// server also uses it. This import makes its cases visible to code that reads `TransportError.kind`.
@_exported public import SwitchyardServices

/// An error below HTTP that prevented an exchange from completing.
public struct TransportError: Error, Sendable, Hashable {
    /// A kind of transport failure.
    ///
    /// All transports use the same kinds, and so does the code that chooses a server.
    public typealias Kind = WireFailure

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
