package import SwitchyardClient
package import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// An error type of another product of this library that defines its conversion to an ``APIError``.
package protocol APIErrorConvertible: Error {
    /// Returns the error that a manager throws instead of this error.
    ///
    /// - Parameter context: The facts about the call, which this error does not contain.
    /// - Returns: The error.
    func apiError(in context: APIError.Context) -> APIError
}

extension APIError {
    /// Creates an error from any other error.
    ///
    /// An `APIError` is used unchanged. Errors of a client, of the transport, of Foundation's URL loading and of task
    /// cancellation are mapped to a reason. Any other error becomes ``Code/failed`` and is stored in
    /// ``Context/underlying``.
    public init(_ error: any Error, context: Context = Context()) {
        switch error {
        case let known as APIError:
            self = known
        case let transport as TransportError:
            self.init(transport, context: context)
        case let failure as RequestFailure:
            self.init(failure)
        case let failure as any APIErrorConvertible:
            self = failure.apiError(in: context)
        case let wrong as RequestError:
            self.init(.configuration(.request(wrong)), underlying: wrong, context: context)
        case is CancellationError:
            self.init(.cancelled(.caller), context: context)
        default:
            self.init(foreign: error, context: context)
        }
    }

    /// Creates an error from an error of a transport.
    ///
    /// Some kinds, such as a rejected certificate, become a more specific reason than ``Reason/transport(_:)``.
    package init(_ error: TransportError, context: Context = Context()) {
        var context = context
        context.underlying = context.underlying ?? error
        if let method = context.method, !method.isSafe, error.mayHaveBeenSent { context.mayHaveBeenExecuted = true }
        self.init(Reason(error), context: context)
    }

    /// Creates an error from a failure of a client.
    package init(_ failure: RequestFailure) {
        var context = Context(failure.context)
        context.requestID = failure.id
        context.underlying = failure
        context.mayHaveBeenExecuted = failure.mayHaveBeenExecuted
        self.init(Reason(failure.reason), context: context)
    }

    private init(foreign error: any Error, context: Context) {
        let failure = TransportError(urlLoading: error) ?? TransportError(.other, message: "\(type(of: error))")
        self.init(Reason(failure), underlying: error, context: context)
    }

    private init(_ reason: Reason, underlying: any Error, context: Context) {
        self.init(reason, context: context)
        self.context.underlying = underlying
    }
}

extension APIError.Context {
    /// Creates a context from the client's facts about a request.
    package init(_ request: RequestContext) {
        self.init(
            service: request.service,
            environment: request.environment.rawValue,
            server: request.server,
            attempts: request.attempts
        )
        method = request.method
        path = request.url?.text ?? request.path
        redirects = request.redirects
        history = request.history
        elapsed = request.elapsed
        mayHaveBeenExecuted = request.mayHaveTakenEffect
    }
}

extension APIError.Reason {
    /// Creates the reason for a failure of a client.
    package init(_ reason: RequestFailure.Reason) {
        self =
            switch reason {
            case .cancelled: .cancelled(.caller)
            case .deadlineExceeded: .limited(.deadline)
            case .transport(let error): Self(error)
            case .invalidRequest(let error): .configuration(.request(error))
            case .unknownServer(let name): .configuration(.unknownServer(name))
            case .unserved(let request): .configuration(.unserved(request))
            case .overloaded: .limited(.overload)
            case .duplicateID: .configuration(.other("another active request has the same identifier"))
            case .redirect(let error): .security(.forbidden(error.description))
            case .credentials(.missing), .credentials(.setElsewhere), .credentials(.loginRequired),
                .credentials(.loggedOut):
                .security(.loginRequired)
            case .credentials(let error):
                error.outage.map { .tokenRefresh($0) } ?? .security(.forbidden(error.description))
            case .rateLimited(let pause): .limited(.rate(retryAfter: pause))
            case .queueFull: .limited(.queue)
            case .superseded: .cancelled(.superseded)
            case .vetoed(let veto): (veto.underlying as? APIError)?.reason ?? .security(.forbidden(veto.description))
            case .closed: .configuration(.clientClosed)
            }
    }

    /// Creates the reason for a failure below HTTP.
    package init(_ error: TransportError) {
        self =
            switch error.kind {
            case .cancelled: .cancelled(.caller)
            case .truncated: .body(.truncated)
            case .bodyTooLarge: .body(.tooLarge(limit: nil))
            case .decodingFailed: .body(.compression)
            case .tlsFailure: .security(.handshake)
            case .certificateRejected: .security(.certificate)
            case .invalidRequest, .requestBodyFailed: .configuration(.invalidRequest(error.message))
            case .unsupported: .configuration(.unsupported(error.message))
            case .closed: .configuration(.clientClosed)
            case .timeout, .connectTimeout, .offline, .dnsFailure, .connectionRefused, .connectionReset,
                .protocolViolation, .proxyFailure, .headersTooLarge, .resourcesExhausted, .other:
                .transport(error)
            }
    }
}

extension APIError: RefreshFailing {
    /// The failure of a token refresh, for a credential provider that made its call through a manager.
    ///
    /// The value is `nil` if this error does not mean that the refresh failed temporarily.
    package var refreshFailure: TokenRefreshFailure? {
        let open = mayHaveBeenExecuted
        switch reason {
        case .tokenRefresh(let outage): return outage
        case .status, .module:
            return refusedStatus.flatMap { TokenRefreshFailure(status: $0, retryAfter: retryAfter) }
        case .body where context.status.map { (200..<300).contains($0) } ?? true:
            return TokenRefreshFailure(.unreadable)
        case .transport(let error): return TokenRefreshFailure(.transport(error), mayHaveBeenExecuted: open)
        case .limited(.deadline): return TokenRefreshFailure(.timeout, mayHaveBeenExecuted: open)
        case .limited(.rate(let pause)):
            return TokenRefreshFailure(.limited, retryAfter: pause, mayHaveBeenExecuted: open)
        case .limited: return TokenRefreshFailure(.limited, mayHaveBeenExecuted: open)
        case .cancelled, .body, .list, .configuration, .security, .cache: return nil
        }
    }
}
