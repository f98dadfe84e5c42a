/// Something that happened to the servers of a service, with the figures that led to it.
///
/// A fault and its end look like this:
///
///     ejected -> switched -> probed (failed) ... probed -> trialStarted -> recovered -> switched
public struct SwitchEvent: Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: Sendable, Hashable {
        /// The preferred server changed.
        case switched(from: Server.ID, to: Server.ID, cause: SwitchCause)
        /// A server gets no more requests.
        ///
        /// Attempts of this generation that still wait on it are to be moved to another server, where that is safe.
        case ejected(Server.ID, generation: UInt32, cause: SwitchCause)
        /// A shadow probe came back.
        case probed(Server.ID, succeeded: Bool)
        /// A server works again and will be tried with real requests after this time.
        case trialStarted(Server.ID, after: Duration)
        /// A server is healthy again after an outage of this length.
        case recovered(Server.ID, outage: Duration)
        /// The client moved to another environment, and all health is fresh.
        case environmentChanged(from: ServiceEnvironment, to: ServiceEnvironment)
        /// A pushed command took effect.
        case pushed(PushCommand)
    }

    /// The time of the event.
    public var at: MonotonicTime
    /// The kind of the event.
    public var kind: Kind
    /// The figures of the server that it happened to; of the server switched from.
    public var statistics: HealthStatistics

    /// Creates an event.
    package init(at: MonotonicTime, _ kind: Kind, statistics: HealthStatistics = HealthStatistics()) {
        self.at = at
        self.kind = kind
        self.statistics = statistics
    }
}

/// Why a server was ejected, or the preferred server changed.
public enum SwitchCause: String, Sendable, Hashable, CaseIterable {
    /// The error ratio of the window reached its threshold.
    case errorRatio
    /// The accumulated score reached its threshold.
    case score
    /// The server was late clearly more often than the others.
    case lateness
    /// A number of consecutive failures.
    case consecutiveFailures
    /// A failure during the trial.
    case trialFailed
    /// A preferred server is healthy again.
    case recovered
    /// The app asked for it.
    case requested
    /// A pushed command asked for it.
    case pushed
    /// A pushed command ended.
    case pushEnded
    /// The list of servers was replaced.
    case listReplaced
    /// Health was reset, for a change of environment.
    case reset
    /// A stored memory was restored.
    case restored
}

extension SwitchEvent: CustomStringConvertible {
    /// A one-line description of the event, with the figures that led to an ejection.
    public var description: String {
        guard case .ejected = kind, let failures = statistics.failureText else { return kind.description }
        let last = statistics.lastFailure.map { ", the last one \($0)" } ?? ""
        return "\(kind), \(failures)\(last)"
    }
}

extension SwitchEvent.Kind: CustomStringConvertible {
    /// A one-line description of the event.
    public var description: String {
        switch self {
        case .switched(let from, let to, let cause): "switched from \(from) to \(to) (\(cause.words))"
        case .ejected(let server, _, let cause): "ejected \(server) (\(cause.words))"
        case .probed(let server, let succeeded): "probed \(server), which \(succeeded ? "answered" : "failed")"
        case .trialStarted(let server, let pause): "\(server) enters the trial after \(pause.rounded)"
        case .recovered(let server, let outage): "recovered \(server) after \(outage.rounded)"
        case .environmentChanged(let from, let to): "environment changed from \(from) to \(to)"
        case .pushed(let command): "pushed: \(command.words)"
        }
    }
}

extension ServerSnapshot: CustomStringConvertible {
    /// The state of the server in one line, with the figures that are known.
    public var description: String {
        let parts = [
            "\(id): \(state)",
            isCurrent ? "current" : nil,
            statistics.failureText,
            p50.map { "p50 \($0.rounded)" },
            p99.map { "p99 \($0.rounded)" },
            nextProbe.map { "next probe in \($0.rounded)" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension HealthStatistics {
    /// The number of failed requests as text, or `nil` if there were none.
    fileprivate var failureText: String? {
        requests == 0 ? nil : "\(failures) of \(requests) requests failed"
    }
}

extension PushCommand {
    fileprivate var words: String {
        mode == .clear ? mode.rawValue : "\(mode.rawValue) \(server)"
    }
}

extension SwitchCause {
    fileprivate var words: String {
        switch self {
        case .errorRatio: "error ratio"
        case .consecutiveFailures: "failures in a row"
        case .trialFailed: "trial failed"
        case .pushEnded: "push ended"
        case .listReplaced: "list replaced"
        case .score, .lateness, .recovered, .requested, .pushed, .reset, .restored: rawValue
        }
    }
}
