public import SwitchyardHTTP

/// The error with which an interceptor, a limit or a similar part ended a request.
///
/// Two vetoes are equal if their names and messages are equal.
public struct InterceptorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the interceptor that ended the request.
    public let name: String
    /// The description of the underlying error.
    public let message: String
    /// The underlying error.
    public let underlying: any Error
    /// The failure that a retrying interceptor replaced by its own error; `nil` if there was a response, and for other
    /// interceptors.
    public var original: RequestFailure? { replaced as? RequestFailure }
    /// An existential, because a failure may contain an interceptor error.
    private let replaced: (any Error)?

    /// Creates a veto.
    package init(name: String, underlying: any Error, original: RequestFailure? = nil) {
        self.name = name
        self.underlying = underlying
        replaced = original
        message = "\(underlying)"
    }

    /// Returns whether the names and the messages of two vetoes are equal.
    public static func == (left: InterceptorError, right: InterceptorError) -> Bool {
        left.name == right.name && left.message == right.message
    }

    /// Hashes the name and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(message)
    }

    /// The name and the message, with credentials hidden.
    public var description: String { Redaction.standard.text("\(name): \(message)") }
}

extension RequestFailure.Reason {
    /// Creates the reason for an error thrown by an interceptor.
    ///
    /// The library's own errors are unchanged; any other error becomes a ``InterceptorError``, which keeps the failure that it
    /// replaces.
    init(thrown error: any Error, by name: String, insteadOf original: RequestFailure? = nil) {
        self =
            switch error {
            case let reason as RequestFailure.Reason: reason
            case let failure as RequestFailure: failure.reason
            case let error as RequestError: .invalidRequest(error)
            case let error as TransportError: .transport(error)
            case let error as CredentialError: .credentials(error)
            case let veto as InterceptorError: .vetoed(veto)
            default: .vetoed(InterceptorError(name: name, underlying: error, original: original))
            }
    }
}

extension InterceptorError: RedactedDescribable {}
