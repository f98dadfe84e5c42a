/// The error with which an interceptor, a limit or the like ended a request.
///
/// Two vetoes are equal when stage, name and text are.
public struct Veto: Error, Sendable, Hashable, CustomStringConvertible {
    /// What ended the request: the interceptor's name.
    public let name: String
    /// The error in words, as its type gives them.
    public let message: String
    /// The error itself.
    public let underlying: any Error

    /// Creates a veto.
    public init(name: String, underlying: any Error) {
        self.name = name
        self.underlying = underlying
        message = "\(underlying)"
    }

    /// Whether two vetoes came from the same interceptor with the same text.
    public static func == (left: Veto, right: Veto) -> Bool {
        left.name == right.name && left.message == right.message
    }

    /// Hashes name and text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(message)
    }

    /// Name and text.
    public var description: String { "\(name): \(message)" }
}

extension RequestFailure.Reason {
    /// The reason that an error thrown by an interceptor stands for.
    ///
    /// The library's own errors stay what they are; anything else is a ``Veto``.
    init(thrown error: any Error, by name: String) {
        self =
            switch error {
            case let reason as RequestFailure.Reason: reason
            case let failure as RequestFailure: failure.reason
            case let error as RequestError: .invalidRequest(error)
            case let error as TransportError: .transport(error)
            case let error as CredentialError: .credentials(error)
            case let veto as Veto: .vetoed(veto)
            default: .vetoed(Veto(name: name, underlying: error))
            }
    }
}
