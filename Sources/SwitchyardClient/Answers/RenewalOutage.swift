import Foundation
public import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// Why no credential could be had now although one may be had later: the server that renews them was not reached, gave no
/// answer, or one that says nothing about the user.
///
/// It is weather: nobody is logged out, the requests that waited were not carried out, and a ``RetryPolicy`` may send them
/// again.
public struct RenewalOutage: Error, Sendable, Hashable {
    /// What became of the renewal.
    public enum Cause: Sendable, Hashable {
        /// No answer came in time.
        case timeout
        /// It failed below HTTP.
        case transport(TransportError)
        /// The answer was 408, 425, 429, or a status from 500 up.
        case status(Int)
        /// The answer is none that a credential can be read from: that of a captive portal, for instance.
        case unreadable
        /// A limit of the client's own let it not pass.
        case limited
    }

    /// What became of the renewal.
    public var cause: Cause
    /// How long to stay away, when that is known.
    public var retryAfter: Duration?
    /// Whether the renewal may have been carried out all the same: a server that takes each refresh token once may have
    /// spent this one.
    public var mayHaveBeenExecuted: Bool

    /// Creates an outage.
    public init(_ cause: Cause, retryAfter: Duration? = nil, mayHaveBeenExecuted: Bool = true) {
        self.cause = cause
        self.retryAfter = retryAfter
        self.mayHaveBeenExecuted = mayHaveBeenExecuted
    }

    /// The failure below HTTP; `nil` when it was something else.
    package var transportError: TransportError? {
        if case .transport(let error) = cause { error } else { nil }
    }

    /// Whether it is a question of time: no answer, or no connection, within what was left for it.
    public var isTimeout: Bool {
        switch cause {
        case .timeout, .status(408), .status(504): true
        case .transport(let error): error.kind == .timeout || error.kind == .connectTimeout
        case .status, .unreadable, .limited: false
        }
    }
}

extension RenewalOutage: CustomStringConvertible {
    /// What became of the renewal, without any secret.
    public var description: String {
        let text =
            switch cause {
            case .timeout: "no answer in time"
            case .transport(let error): error.description
            case .status(let status): "the server answered with \(status)"
            case .unreadable: "the server's answer cannot be read"
            case .limited: "a limit of this client's is in the way"
            }
        return text + (mayHaveBeenExecuted ? ", the renewal may have been carried out" : "")
    }
}

// MARK: - What counts as one

extension RenewalOutage {
    /// The outage that a failed request stands for; `nil` for one that another try does not help against.
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

    /// The outage that a response stands for; `nil` for a response that says something about the credential.
    ///
    /// A permanent failure of the server, such as 501, says nothing about the credential either, so the user stays logged in.
    package init?(status: Int, retryAfter: Duration?) {
        guard status >= 500 || Transience(status: status) == .transient else { return nil }
        let isOpen = RequestFate(status: status, to: .post).mayHaveBeenExecuted
        self.init(.status(status), retryAfter: retryAfter, mayHaveBeenExecuted: isOpen)
    }

    /// The outage that an error of a provider stands for; `nil` for one that may be for good.
    ///
    /// - Parameters:
    ///   - error: What the provider has thrown.
    ///   - last: What became of the last request that it sent.
    init?(thrown error: any Error, after last: RenewalWitness.End?) {
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
        error is DecodingError || (error as? any RenewalFailing)?.isUnreadable ?? false
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
        case let error as any RenewalFailing:
            guard let outage = error.renewalOutage else { return nil }
            self = outage
        default:
            guard let error = TransportError(urlLoading: error), let cause = Cause(error) else { return nil }
            self.init(cause, mayHaveBeenExecuted: error.mayHaveBeenSent)
        }
    }
}

extension RenewalOutage.Cause {
    /// The cause that a failure below HTTP is; `nil` for one that this side, or a person, has to mend.
    init?(_ error: TransportError) {
        switch error.kind {
        case .headersTooLarge, .bodyTooLarge, .decodingFailed: self = .unreadable
        // A server that cannot prove who it is gets no credential, however often it is asked.
        case .certificateRejected: return nil
        case let kind where Transience(kind) == .permanent: return nil
        default: self = .transport(error)
        }
    }
}

/// An error of another layer that knows whether it is an outage to a renewal.
package protocol RenewalFailing: Error {
    /// The outage; `nil` when another try does not help.
    var renewalOutage: RenewalOutage? { get }
    /// Whether it is about an answer that is not what it should be.
    var isUnreadable: Bool { get }
}

extension RenewalFailing {
    package var isUnreadable: Bool { false }
}

// MARK: - What a renewal has met

/// Sees what becomes of the requests of a renewal, which its provider may have made nothing of: one that takes a 503 for
/// "no credential" is not to log anybody out.
final class RenewalWitness: Sendable {
    /// How a request has ended.
    enum End: Sendable {
        case failed(RequestFailure)
        case answered(Int, retryAfter: Duration?)

        var outage: RenewalOutage? {
            switch self {
            case .failed(let failure): RenewalOutage(failure)
            case .answered(let status, let retryAfter): RenewalOutage(status: status, retryAfter: retryAfter)
            }
        }

        /// Whether a server has said no.
        var isRefusal: Bool {
            if case .answered(let status, _) = self { (400..<500).contains(status) } else { false }
        }
    }

    @TaskLocal static var current: RenewalWitness?

    private let end = Locked<End?>(nil)

    /// How the last request has ended; `nil` when none has.
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
    /// The outage that it is; `nil` for an error that another try does not help against.
    package var outage: RenewalOutage? {
        switch self {
        case .unavailable(let outage): outage
        case .renewalTimedOut: RenewalOutage(.timeout)
        default: nil
        }
    }
}

extension RequestFailure.Reason {
    /// The outage for which there is no credential; `nil` for all other failures.
    var renewalOutage: RenewalOutage? {
        if case .credentials(let error) = self { error.outage } else { nil }
    }
}
