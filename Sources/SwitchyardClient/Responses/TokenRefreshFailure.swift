import Foundation
public import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// A transient failure of a token refresh.
///
/// The server that refreshes credentials was not reached or did not respond, its response says nothing about the
/// credential (such as a 503 or the page of a captive portal), or a limit of the client prevented the refresh.
///
/// The user stays logged in. The waiting requests were not executed, and a ``RetryPolicy`` may send them again.
public struct TokenRefreshFailure: Error, Sendable, Hashable {
    /// The cause of the failure.
    public enum Cause: Sendable, Hashable {
        /// No response arrived in time.
        case timeout
        /// The refresh failed below HTTP.
        case transport(TransportError)
        /// The response was 408, 425, 429, or a status from 500.
        case status(Int)
        /// The response contains no credential, for example because it comes from a captive portal.
        case unreadable
        /// A limit of the client refused the refresh.
        case limited
    }

    /// The cause of the failure.
    public var cause: Cause
    /// The time to wait before the next refresh, if it is known.
    public var retryAfter: Duration?
    /// Whether the refresh may have been executed.
    ///
    /// A server that accepts each refresh token only once may then have invalidated the token.
    public var mayHaveBeenExecuted: Bool

    /// Creates a transient failure.
    public init(_ cause: Cause, retryAfter: Duration? = nil, mayHaveBeenExecuted: Bool = true) {
        self.cause = cause
        self.retryAfter = retryAfter
        self.mayHaveBeenExecuted = mayHaveBeenExecuted
    }

    /// The failure below HTTP, or `nil` for another cause.
    package var transportError: TransportError? {
        if case .transport(let error) = cause { error } else { nil }
    }

    /// Whether the cause is a timeout: no response or no connection within the time that was left.
    package var isTimeout: Bool {
        switch cause {
        case .timeout, .status(408), .status(504): true
        case .transport(let error): error.kind == .timeout || error.kind == .connectTimeout
        case .status, .unreadable, .limited: false
        }
    }
}

extension TokenRefreshFailure: CustomStringConvertible {
    /// The failure in words, without any secret.
    public var description: String {
        let text =
            switch cause {
            case .timeout: "no response in time"
            case .transport(let error): error.description
            case .status(let status): "the server responded with status \(status)"
            case .unreadable: "the server's response cannot be read"
            case .limited: "a limit of the client stopped the refresh"
            }
        return text + (mayHaveBeenExecuted ? ", the refresh may have been executed" : "")
    }
}

// MARK: - Classification

extension TokenRefreshFailure {
    /// Creates the failure for a failed request, or returns `nil` if another attempt cannot help.
    package init?(_ failure: RequestFailure) {
        let isOpen = failure.mayHaveBeenExecuted
        switch failure.reason {
        case .transport(let error):
            guard let cause = Cause(error) else { return nil }
            self.init(cause, mayHaveBeenExecuted: isOpen)
        case .deadlineExceeded: self.init(.timeout, mayHaveBeenExecuted: isOpen)
        case .overloaded, .queueFull: self.init(.limited, mayHaveBeenExecuted: isOpen)
        case .rateLimited(let pause): self.init(.limited, retryAfter: pause, mayHaveBeenExecuted: isOpen)
        case .credentials(let error):
            guard let outage = error.outage else { return nil }
            self = outage
        default: return nil
        }
    }

    /// Creates the failure for the status of a response, or returns `nil` for a status that may be about the
    /// credential, such as 400 or 401.
    ///
    /// A status from 500 is never about the credential, even if the fault is permanent (501), so the user stays logged
    /// in.
    package init?(status: Int, retryAfter: Duration?) {
        guard status >= 500 || Transience(status: status) == .transient else { return nil }
        let isOpen = RequestFate(status: status, to: .post).mayHaveBeenExecuted
        self.init(.status(status), retryAfter: retryAfter, mayHaveBeenExecuted: isOpen)
    }

    /// Creates the failure for an error that a provider has thrown, or returns `nil` if the error may be permanent.
    ///
    /// - Parameters:
    ///   - error: The error that the provider threw.
    ///   - last: The result of the last request that the provider sent.
    init?(thrown error: any Error, after last: RefreshRecorder.End?) {
        if let known = Self(known: error) {
            self = known
            retryAfter = retryAfter ?? last?.outage?.retryAfter
        } else if let outage = last?.outage {
            self = outage
        } else if Self.isUnreadable(error), last?.isRefusal != true {
            self.init(.unreadable)
        } else {
            return nil
        }
    }

    private static func isUnreadable(_ error: any Error) -> Bool {
        error is DecodingError || (error as? any RefreshFailing)?.isUnreadable ?? false
    }

    private init?(known error: any Error) {
        switch error {
        case let outage as Self: self = outage
        case let failure as RequestFailure:
            guard let outage = Self(failure) else { return nil }
            self = outage
        case let error as TransportError:
            guard let cause = Cause(error) else { return nil }
            self.init(cause, mayHaveBeenExecuted: error.mayHaveBeenSent)
        case let error as any RefreshFailing:
            guard let outage = error.refreshFailure else { return nil }
            self = outage
        default:
            guard let error = TransportError(urlLoading: error), let cause = Cause(error) else { return nil }
            self.init(cause, mayHaveBeenExecuted: error.mayHaveBeenSent)
        }
    }
}

extension TokenRefreshFailure.Cause {
    /// Creates the cause for a failure below HTTP, or returns `nil` if only the app or a person can fix the failure.
    init?(_ error: TransportError) {
        switch error.kind {
        case .headersTooLarge, .bodyTooLarge, .decodingFailed: self = .unreadable
        // No credential is sent to a server whose certificate was rejected, so another attempt cannot help.
        case .certificateRejected: return nil
        case let kind where Transience(kind) == .permanent: return nil
        default: self = .transport(error)
        }
    }
}

/// An error of a module above the client that can be the cause of a failed token refresh.
package protocol RefreshFailing: Error {
    /// The transient failure, or `nil` if another attempt cannot help.
    var refreshFailure: TokenRefreshFailure? { get }
    /// Whether the response is not of the expected form.
    var isUnreadable: Bool { get }
}

extension RefreshFailing {
    package var isUnreadable: Bool { false }
}

// MARK: - Results of a refresh's requests

/// Records the results of the requests that a refresh sends.
///
/// The results are needed because a provider may ignore them. For example, a provider that returns "no credential"
/// after a 503 must not log the user out.
final class RefreshRecorder: Sendable {
    /// The result of a request.
    enum End: Sendable {
        case failed(RequestFailure)
        case answered(Int, retryAfter: Duration?)

        var outage: TokenRefreshFailure? {
            switch self {
            case .failed(let failure): TokenRefreshFailure(failure)
            case .answered(let status, let retryAfter): TokenRefreshFailure(status: status, retryAfter: retryAfter)
            }
        }

        /// Whether a server rejected the request with a 4xx status.
        var isRefusal: Bool {
            if case .answered(let status, _) = self { (400..<500).contains(status) } else { false }
        }
    }

    @TaskLocal static var current: RefreshRecorder?

    private let end = Locked<End?>(nil)

    /// The result of the last request, or `nil` if no request has ended.
    var last: End? { end.withLock { $0 } }

    func note(_ result: Result<ServiceResponse, RequestFailure>) {
        let end =
            switch result {
            case .failure(let failure): End.failed(failure)
            case .success(let answer):
                End.answered(answer.status, retryAfter: RetryAfter.duration(in: answer.headers, now: Date()))
            }
        self.end.withLock { $0 = end }
    }
}

extension CredentialError {
    /// The transient failure of a refresh, or `nil` if another attempt cannot help.
    package var outage: TokenRefreshFailure? {
        switch self {
        case .unavailable(let outage): outage
        case .refreshTimedOut: TokenRefreshFailure(.timeout)
        default: nil
        }
    }
}

extension RequestFailure.Reason {
    /// The transient failure of the refresh because of which there is no credential, or `nil` for any other reason.
    var refreshFailure: TokenRefreshFailure? {
        if case .credentials(let error) = self { error.outage } else { nil }
    }
}
