public import SwitchyardHTTP

/// The error with which an interceptor, a limit or similar code of the app ended a request.
///
/// Two errors are equal if their names and messages are equal.
public struct InterceptorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the interceptor or limit that ended the request.
    public let name: String
    /// The description of the underlying error.
    public let message: String
    /// The underlying error.
    public let underlying: any Error
    /// The failure that a retrying interceptor replaced with its own error.
    ///
    /// The value is `nil` if there was a response instead of a failure, and for all errors that do not come from a
    /// retrying interceptor.
    public var original: RequestFailure? { replaced as? RequestFailure }
    /// The failure that the error replaced.
    ///
    /// It is stored as `any Error`, because a failure may itself contain an interceptor error.
    private let replaced: (any Error)?

    /// Creates the error of an interceptor.
    package init(name: String, underlying: any Error, original: RequestFailure? = nil) {
        self.name = name
        self.underlying = underlying
        replaced = original
        message = "\(underlying)"
    }

    /// Returns whether the names and the messages of two errors are equal.
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
    /// Creates the reason for an error that an interceptor has thrown.
    ///
    /// The library's own errors become the matching reasons. Any other error becomes an ``InterceptorError`` that also
    /// contains the failure that it replaces.
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
