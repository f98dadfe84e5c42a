public import Foundation
public import SwitchyardHTTP
import SwitchyardServices

/// Whether and when a request is sent again after a round that no server answered as it should.
///
/// Failover comes first: within a round the request has already gone to every server that was worth asking. What a
/// policy adds is time.
///
/// ### Use
///
///     options.retry = .standard                       // twice, exponential back-off with full jitter
///     configuration.retry = .never                    // this call only once
///     configuration.retry = RetryPolicy(maximumRetries: 5, backoff: .constant(.seconds(1)))
///
/// ### What is sent again
/// Only what may be sent again (``EndedRound/isSafeToRepeat``), whatever the policy says: safe methods, writes with an
/// idempotency key, a PUT or DELETE after a final response, and what certainly never left this machine.
public struct RetryPolicy: Sendable {
    /// How often a request is sent again at most.
    ///
    /// The rounds that a 401 leads to are not counted (``RoundRecord/isReauthorized``).
    public var maximumRetries: Int
    /// The pauses.
    public var backoff: Backoff
    /// The methods that are retried; all of them when `nil`, the default.
    public var methods: Set<HTTPMethod>?
    /// The statuses that are retried: the transient ones (``/SwitchyardHTTP/Transience/statuses``) by default.
    public var statuses = Transience.statuses
    /// The failures below HTTP that are retried: the transient ones (``/SwitchyardHTTP/Transience/kinds``) by default.
    public var failures = RetryPolicy.passingFailures
    /// The most retries for one cause; no limits of their own by default.
    ///
    /// What a cause uses up counts for ``maximumRetries`` too.
    public var limits: [RetryCause: Int] = [:]
    /// The longest time that a server may ask to stay away with `Retry-After`; 60 s by default.
    ///
    /// The pause is then the longer of what it asks for and the back-off. When it asks for more than this, its answer is
    /// the request's answer. `nil` pays no regard to the field.
    public var retryAfterCeiling: Duration? = .seconds(60)
    /// What limits the retries of all requests together; nothing by default.
    public var budget: RetryBudget?
    /// How long to wait for the network, instead of the back-off, when this machine is offline; not at all by default.
    ///
    /// ``NetworkClient/networkChanged(isOnline:)`` says when it is back; one that does not come back in time ends the
    /// request.
    public var networkWait: Duration?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - maximumRetries: How often a request is sent again at most; twice unless given.
    ///   - backoff: The pauses; exponential from 0.5 s to 20 s with full jitter unless given.
    ///   - methods: The methods that are retried; all unless given.
    public init(
        maximumRetries: Int = 2,
        backoff: Backoff = .exponential(),
        methods: Set<HTTPMethod>? = nil
    ) {
        self.maximumRetries = maximumRetries
        self.backoff = backoff
        self.methods = methods
    }

    /// Nothing is retried.
    public static let never = RetryPolicy(maximumRetries: 0)
    /// Two retries, after what may pass.
    public static let standard = RetryPolicy()

    /// Retries only after a connection that broke off.
    ///
    /// - Parameters:
    ///   - maximumRetries: How often; twice unless given.
    ///   - backoff: The pauses; exponential from 0.5 s to 20 s with full jitter unless given.
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

    /// The failures below HTTP that are transient.
    public static var passingFailures: Set<TransportError.Kind> { Transience.kinds }
}

// MARK: - Deciding

extension RetryPolicy {
    /// Says what follows from the end of a round.
    ///
    /// A pure function of its arguments; the budget is asked afterwards.
    ///
    /// - Parameters:
    ///   - round: The round.
    ///   - random: A number from 0 to 1 that places the pause within its jitter.
    ///   - now: The time of day, for a `Retry-After` that is a date.
    /// - Returns: ``RetryDecision/retry(after:)`` or ``RetryDecision/undecided``.
    public func decision(
        for round: EndedRound,
        random: Double,
        now: @autoclosure () -> Date = Date()
    ) -> RetryDecision {
        guard let cause = RetryCause(round.result), isRetried(round), round.isSafeToRepeat else { return .undecided }
        let history = round.context.history.filter { !$0.isReauthorized }
        guard history.count < maximumRetries else { return .undecided }
        if let limit = limits[cause], history.count(where: { $0.cause == cause }) >= limit { return .undecided }
        let pause = backoff.delay(beforeRetry: history.count + 1, random: random)
        guard let ceiling = retryAfterCeiling, let asked = round.askedPause(now()) else { return .retry(after: pause) }
        return asked > ceiling ? .undecided : .retry(after: max(asked, pause))
    }

    /// Whether a round of this method ended in a way that the policy retries.
    private func isRetried(_ round: EndedRound) -> Bool {
        if let methods, !methods.contains(round.configuration.sentMethod) { return false }
        if let status = round.status { return statuses.contains(status) }
        if let outage = round.renewalOutage { return isRetried(outage) }
        // Given up unsent, to spare servers of which each would have said 503.
        if case .failure(let failure) = round.result, failure.reason == .overloaded { return statuses.contains(503) }
        return round.transportError.map { failures.contains($0.kind) } ?? false
    }

    /// Whether a request is made again that had no credential to go with: as if the renewal's end were its own.
    private func isRetried(_ outage: RenewalOutage) -> Bool {
        switch outage.cause {
        case .timeout: failures.contains(.timeout)
        case .transport(let error): failures.contains(error.kind)
        case .status(let status): statuses.contains(status)
        case .unreadable: failures.contains(.protocolViolation)
        case .limited: true
        }
    }

    /// What is wrong with the figures; `nil` when nothing is.
    public var problem: RetryPolicyError? {
        if maximumRetries < 0 { return .negativeCount(maximumRetries) }
        if let count = limits.values.first(where: { $0 < 0 }) { return .negativeCount(count) }
        if let wait = [retryAfterCeiling, networkWait].compactMap(\.self).first(where: { $0 < .zero }) {
            return .negativePause(wait)
        }
        return backoff.problem
    }
}

extension EndedRound {
    /// Why there was no credential to go with; `nil` when there was one, or none can be had.
    fileprivate var renewalOutage: RenewalOutage? {
        if case .failure(let failure) = result { failure.reason.renewalOutage } else { nil }
    }

    /// How long whoever answered asks to stay away.
    fileprivate func askedPause(_ now: @autoclosure () -> Date) -> Duration? {
        switch result {
        case .success(let answer): RetryAfter.duration(in: answer.headers, now: now())
        case .failure: renewalOutage?.retryAfter
        }
    }
}

/// What made a retry necessary, for limits of its own.
public enum RetryCause: Sendable, Hashable, CaseIterable {
    /// No connection came about.
    case connect
    /// A connection stood, but no whole answer came over it.
    case read
    /// An answer came, and its status asks for a retry.
    case status
    /// Anything else below HTTP.
    case other

    /// The cause that the end of a round gives; `nil` when it gives none.
    init?(_ result: Result<ServiceResponse, RequestFailure>) {
        switch result {
        case .success: self = .status
        case .failure(let failure): self.init(failure.reason)
        }
    }

    init?(_ reason: RequestFailure.Reason) {
        if let outage = reason.renewalOutage {
            self.init(outage)
        } else if case .transport(let error) = reason {
            self.init(error)
        } else if case .overloaded = reason {
            self = .other
        } else {
            return nil
        }
    }

    private init(_ outage: RenewalOutage) {
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

extension RoundRecord {
    /// What made a retry necessary.
    var cause: RetryCause? { failure.map { RetryCause($0) } ?? .status }
}

/// What is wrong with a retry policy.
public enum RetryPolicyError: Error, Sendable, Hashable {
    /// A number of retries is below zero.
    case negativeCount(Int)
    /// A pause is below zero.
    case negativePause(Duration)
    /// A factor of growth is below 1 or no number, or a fraction of jitter is not from 0 to 1.
    case unusableFactor(Double)
}

extension RetryPolicyError: CustomStringConvertible {
    /// What is wrong, with the figure.
    public var description: String {
        switch self {
        case .negativeCount(let count): "\(count) is no number of retries"
        case .negativePause(let pause): "\(pause) is no pause"
        case .unusableFactor(let factor): "\(factor) is no factor of growth, or no fraction of jitter"
        }
    }
}
