package import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// The policy by which a request is retried after it failed or ended with an error status.
///
/// A round is one try at the request with its failovers and hedges, so before a retry, the request has already been
/// sent to every server that may help. A retry policy adds further rounds after a pause.
///
/// ### Use
///
///     options.retry = .standard                       // up to two retries, exponential backoff with full jitter
///     configuration.retry = .never                    // no retries for this call
///     configuration.retry = RetryPolicy(maximumRetries: 5, backoff: .constant(.seconds(1)))
///
/// ### Which requests are retried
/// Whatever the policy, a request is retried only if sending it again is safe (``RoundResult/isSafeToRepeat``). This is
/// true for safe methods, write requests with an idempotency key, a PUT or DELETE after a final response, and requests
/// that certainly never left this machine.
public struct RetryPolicy: Sendable {
    /// The maximum number of retries.
    ///
    /// Rounds that follow a 401 are not counted (``DispatchContext/RoundRecord/isReauthorized``).
    public var maximumRetries: Int
    /// The backoff that determines the pauses before retries.
    public var backoff: Backoff
    /// The methods that are retried.
    ///
    /// If `nil` (the default), all methods are retried.
    public var methods: Set<HTTPMethod>?
    /// The statuses that are retried, by default the transient statuses.
    public var statuses = Transience.statuses
    /// The transport failures that are retried, by default the transient failures.
    public var failures = RetryPolicy.transientFailures
    /// The maximum number of retries for each cause, by default no maximum.
    ///
    /// Retries for a cause also count towards ``maximumRetries``.
    public var limits: [RetryPolicy.Cause: Int] = [:]
    /// The longest `Retry-After` that the policy accepts, 60 s by default.
    ///
    /// The pause is the longer of `Retry-After` and the backoff. If a server asks for a longer time than this value,
    /// the request is not retried and ends with the server's response. If `nil`, `Retry-After` is ignored.
    public var retryAfterCeiling: Duration? = .seconds(60)
    /// The budget that limits the retries of all requests together, none by default.
    public var budget: RetryBudget?
    /// The time to wait for the network, in place of the backoff, if this machine is offline.
    ///
    /// ``NetworkClient/networkChanged(isOnline:)`` ends the wait. If the network does not come back in time, the
    /// request ends. If `nil` (the default), the request does not wait for the network.
    public var networkWait: Duration?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - maximumRetries: The maximum number of retries, 2 by default.
    ///   - backoff: The backoff, by default exponential from 0.5 s to 20 s with full jitter.
    ///   - methods: The methods that are retried. If `nil`, all methods.
    public init(
        maximumRetries: Int = 2,
        backoff: Backoff = .exponential(),
        methods: Set<HTTPMethod>? = nil
    ) {
        self.maximumRetries = maximumRetries
        self.backoff = backoff
        self.methods = methods
    }

    /// A policy without retries.
    public static let never = RetryPolicy(maximumRetries: 0)
    /// A policy with up to two retries after transient failures.
    public static let standard = RetryPolicy()

    /// Returns a policy that retries only after a connection was lost.
    ///
    /// - Parameters:
    ///   - maximumRetries: The maximum number of retries, 2 by default.
    ///   - backoff: The backoff, by default exponential from 0.5 s to 20 s with full jitter.
    /// - Returns: The policy.
    public static func connectionLost(
        maximumRetries: Int = 2,
        backoff: Backoff = .exponential()
    ) -> RetryPolicy {
        var policy = RetryPolicy(maximumRetries: maximumRetries, backoff: backoff)
        policy.statuses = []
        policy.failures = [.connectionReset]
        return policy
    }

    /// The transport failures that are transient.
    package static var transientFailures: Set<TransportError.Kind> { Transience.kinds }
}

// MARK: - Decision

extension RetryPolicy {
    /// Returns the decision after the request has been tried, with its failovers and hedges.
    ///
    /// The result depends only on the arguments. The ``budget`` is applied later.
    ///
    /// - Parameters:
    ///   - round: The result of the round.
    ///   - random: A number from 0 to 1 that selects the pause within its jitter.
    ///   - now: The current date and time, needed for a `Retry-After` with a date.
    /// - Returns: ``RetryDecision/retry(after:)`` or ``RetryDecision/undecided``.
    package func decision(
        for round: RoundResult,
        random: Double,
        now: @autoclosure () -> Date = Date()
    ) -> RetryDecision {
        guard let cause = RetryPolicy.Cause(round.result), isRetried(round), round.isSafeToRepeat else {
            return .undecided
        }
        let history = round.context.history.filter { !$0.isReauthorized }
        guard history.count < maximumRetries else { return .undecided }
        if let limit = limits[cause], history.count(where: { $0.cause == cause }) >= limit { return .undecided }
        let pause = backoff.delay(beforeRetry: history.count + 1, random: random)
        guard let ceiling = retryAfterCeiling, let asked = round.requestedPause(now()) else {
            return .retry(after: pause)
        }
        return asked > ceiling ? .undecided : .retry(after: max(asked, pause))
    }

    /// Returns whether the policy permits a retry for the method and for this result.
    private func isRetried(_ round: RoundResult) -> Bool {
        if let methods, !methods.contains(round.configuration.sentMethod) { return false }
        if let status = round.status { return statuses.contains(status) }
        if let outage = round.refreshFailure { return isRetried(outage) }
        // The client did not send the request, because all servers were overloaded and would have responded with 503.
        if case .failure(let failure) = round.result, failure.reason == .overloaded { return statuses.contains(503) }
        return round.transportError.map { failures.contains($0.kind) } ?? false
    }

    /// Returns whether a request that got no credential because of a failed token refresh is retried.
    ///
    /// The failure of the refresh counts as if it were a failure of the request.
    private func isRetried(_ outage: TokenRefreshFailure) -> Bool {
        switch outage.cause {
        case .timeout: failures.contains(.timeout)
        case .transport(let error): failures.contains(error.kind)
        case .status(let status): statuses.contains(status)
        case .unreadable: failures.contains(.protocolViolation)
        case .limited: true
        }
    }

    /// The invalid value of the policy, or `nil` if all values are valid.
    package var problem: RetryPolicy.Problem? {
        if maximumRetries < 0 { return .negativeCount(maximumRetries) }
        if let count = limits.values.first(where: { $0 < 0 }) { return .negativeCount(count) }
        if let wait = [retryAfterCeiling, networkWait].compactMap(\.self).first(where: { $0 < .zero }) {
            return .negativePause(wait)
        }
        return backoff.problem
    }
}

extension RoundResult {
    /// The failure of the token refresh because of which the request had no credential, or `nil` if the request failed
    /// for another reason.
    fileprivate var refreshFailure: TokenRefreshFailure? {
        if case .failure(let failure) = result { failure.reason.refreshFailure } else { nil }
    }

    /// Returns the pause that a server asked for with `Retry-After`, in its response to the request or to the token
    /// refresh.
    fileprivate func requestedPause(_ now: @autoclosure () -> Date) -> Duration? {
        switch result {
        case .success(let answer): RetryAfter.duration(in: answer.headers, now: now())
        case .failure: refreshFailure?.retryAfter
        }
    }
}

extension RetryPolicy {
    /// The cause of a retry, for limits per cause.
    public enum Cause: Sendable, Hashable, CaseIterable {
        /// No connection was established.
        case connect
        /// A connection was established, but no complete response was received over it.
        case read
        /// A response was received, and its status causes the retry.
        case status
        /// Any other failure.
        case other

        /// Creates the cause of a retry for the result of a round, or returns `nil` if the result is never retried.
        init?(_ result: Result<ServiceResponse, RequestFailure>) {
            switch result {
            case .success: self = .status
            case .failure(let failure): self.init(failure.reason)
            }
        }

        init?(_ reason: RequestFailure.Reason) {
            if let outage = reason.refreshFailure {
                self.init(outage)
            } else if case .transport(let error) = reason {
                self.init(error)
            } else if case .overloaded = reason {
                self = .other
            } else {
                return nil
            }
        }

        private init(_ outage: TokenRefreshFailure) {
            switch outage.cause {
            case .timeout: self = .read
            case .transport(let error): self.init(error)
            case .status: self = .status
            case .unreadable, .limited: self = .other
            }
        }

        private init(_ error: TransportError) {
            switch error.kind {
            case .dnsFailure, .connectionRefused, .connectTimeout, .offline, .resourcesExhausted, .proxyFailure:
                self = .connect
            case .timeout, .connectionReset, .truncated, .protocolViolation: self = .read
            default: self = .other
            }
        }
    }
}

extension DispatchContext.RoundRecord {
    /// The cause of the retry that followed the round.
    var cause: RetryPolicy.Cause? { failure.map { RetryPolicy.Cause($0) } ?? .status }
}

extension RetryPolicy {
    /// An invalid value of a retry policy.
    public enum Problem: Error, Sendable, Hashable {
        /// A number of retries is negative.
        case negativeCount(Int)
        /// A pause is negative.
        case negativePause(Duration)
        /// A growth factor is less than 1 or not finite, or a jitter fraction is not between 0 and 1.
        case unusableFactor(Double)
    }
}

extension RetryPolicy.Problem: CustomStringConvertible {
    /// The error as text, with the invalid value.
    public var description: String {
        switch self {
        case .negativeCount(let count): "\(count) is not a valid number of retries: must be at least 0"
        case .negativePause(let pause): "\(pause) is not a valid pause: must be at least 0"
        case .unusableFactor(let factor):
            "\(factor) is invalid: a growth factor must be at least 1, and a jitter fraction must be within 0...1"
        }
    }
}
