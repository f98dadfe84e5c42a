public import SwitchyardHTTP
import SwitchyardServices

/// The reason why a request got no response.
///
/// A response with an error status, such as 404 or 503, is a response and not a failure. The modules above the client
/// interpret the status.
public struct RequestFailure: Error, Sendable {
    /// The kind of failure.
    public enum Reason: Error, Sendable, Hashable {
        /// The caller cancelled the request, or released the client through which the request was sent.
        case cancelled
        /// The deadline of the whole request passed.
        case deadlineExceeded
        /// The last attempt failed below HTTP, and no other attempt was possible.
        case transport(TransportError)
        /// The request could not be built.
        case invalidRequest(RequestError)
        /// The request names a server that the service does not have.
        case unknownServer(String)
        /// No server serves the request: a mistake in the configuration of the service or of the call.
        case unserved(UnservedRequest)
        /// Every server is overloaded, so the request was not sent.
        ///
        /// A later request may succeed.
        case overloaded
        /// Another request with this identifier is active.
        case duplicateID
        /// A redirect could not be followed.
        case redirect(RedirectError)
        /// The credentials that the request needs are missing or could not be refreshed.
        case credentials(CredentialError)
        /// A limit refused the request. The associated value is the time to wait before another try, or `nil` if it is
        /// unknown.
        case rateLimited(retryAfter: Duration?)
        /// Too many requests are already waiting.
        case queueFull
        /// A newer request superseded this request.
        case superseded
        /// An interceptor, or a limit of the app, ended the request with an error.
        case vetoed(InterceptorError)
        /// The client has been shut down.
        case closed
    }

    /// The reason why the request failed.
    public var reason: Reason
    /// The context of the request: its service, server and URL, and its attempts.
    public var context: RequestContext {
        get { sharedContext.value }
        set { sharedContext.value = newValue }
    }
    /// The identifier of the request that failed.
    public var id: RequestID

    /// The context, stored by reference so that a failure is small.
    ///
    /// Every suspended function that can throw a failure reserves memory for it.
    private var sharedContext: CopyOnWrite<RequestContext>

    /// Creates a failure.
    public init(_ reason: Reason, id: RequestID, context: RequestContext) {
        self.init(reason, id: id, sharedContext: CopyOnWrite(context))
    }

    init(_ reason: Reason, id: RequestID, sharedContext: CopyOnWrite<RequestContext>) {
        self.reason = reason
        self.id = id
        self.sharedContext = sharedContext
    }

    /// Whether a server may have executed the request although no response confirms it.
    ///
    /// The value is `false` only if certainly no server executed the request: nothing was sent in any attempt, or the
    /// server rejected the request. It may be `true` after a deadline or a cancellation, and after a failed retry, if
    /// an earlier attempt may have reached a server. A server that responds with 2xx, 302 or 303 has executed the
    /// request. The value is then `true` if an interceptor, a limit or a truncated body ends the request with a
    /// failure.
    ///
    /// Before you repeat a write request that may have been executed, make sure that it is not executed twice: use an
    /// ``APIConfiguration/idempotencyKey``, or check whether the write had its effect.
    ///
    /// A request that only reads has nothing to execute. The value is `false` for safe methods (RFC 9110 section
    /// 9.2.1), unless ``APIConfiguration/mayBeRepeated`` is `false`.
    public var mayHaveBeenExecuted: Bool {
        if context.mayHaveTakenEffect { return true }
        return switch reason {
        case .transport(let error): error.mayHaveBeenSent && !context.method.isSafe
        case .redirect: !context.method.isSafe
        default: false
        }
    }

    /// Whether the caller ended the request, by cancelling it or with a newer request that superseded it.
    public var isCancellation: Bool { reason == .cancelled || reason == .superseded }
}

extension RequestFailure: CustomStringConvertible {
    /// The context, the reason, and whether the request may have been executed, without headers, query, password and
    /// body.
    public var description: String { "\(context): \(reason)" + (mayHaveBeenExecuted ? .mayHaveBeenExecuted : "") }
}

extension String {
    /// The end of a log line about the failure of a write request that may have been executed.
    package static let mayHaveBeenExecuted = ", may have been executed"
}

extension RequestFailure.Reason: CustomStringConvertible {
    /// The reason in words, without headers, query, password and body.
    public var description: String { Redaction.standard.text(words) }

    private var words: String {
        switch self {
        case .cancelled: "cancelled"
        case .deadlineExceeded: "no response within the deadline"
        case .transport(let error): error.description
        case .invalidRequest(let error): error.description
        case .unknownServer(let name): "the service has no server \"\(name)\""
        case .unserved(let request): request.description
        case .overloaded: "every server is overloaded"
        case .duplicateID: "another active request has the same identifier"
        case .redirect(let error): error.description
        case .credentials(let error): "\(error)\(error.advice.isEmpty ? "" : ": \(error.advice)")"
        case .rateLimited(let pause): "too many requests\(pause.map { ", try again in \($0)" } ?? "")"
        case .queueFull: "too many requests are already waiting"
        case .superseded: "a newer request superseded this request"
        case .vetoed(let veto): "ended by \(veto)"
        case .closed: "the client has been shut down"
        }
    }
}

extension RequestFailure: RedactedDescribable {}
extension RequestFailure.Reason: RedactedDescribable {}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    /// The context of the request, whether it succeeded or failed.
    package var context: RequestContext {
        switch self {
        case .success(let answer): answer.context
        case .failure(let failure): failure.context
        }
    }
}
