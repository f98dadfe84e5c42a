/// A change in the state of a service's servers, with the statistics that led to it.
///
/// The events of an outage and a recovery are, for example:
///
///     ejected -> switched -> probed (failed) ... probed -> trialStarted -> recovered -> switched
public struct SwitchEvent: Sendable, Hashable {
    /// The kind of an event.
    public enum Kind: Sendable, Hashable {
        /// The preferred server changed.
        case switched(from: Server.ID, to: Server.ID, cause: SwitchCause)
        /// A server was ejected (taken out of use for a time) and gets no more requests.
        ///
        /// `generation` is the number that is stored in the attempts on the server so far. Attempts that still wait for
        /// the server should be moved to another server if that is safe.
        case ejected(Server.ID, generation: UInt32, cause: SwitchCause)
        /// A probe of an ejected server ended. The probe is a shadow read: a copy of a read, whose response is
        /// discarded.
        case probed(Server.ID, succeeded: Bool)
        /// A server works again. Its trial with real requests begins after this time.
        case trialStarted(Server.ID, after: Duration)
        /// A server is healthy again after an outage of this length.
        case recovered(Server.ID, outage: Duration)
        /// The client changed its environment, and the health of all servers was reset.
        case environmentChanged(from: ServiceEnvironment, to: ServiceEnvironment)
        /// A pushed command took effect.
        case pushed(PushCommand)
    }

    /// The time of the event.
    public var at: MonotonicTime
    /// The kind of the event.
    public var kind: Kind
    /// The statistics of the affected server; for a switch, those of the server that was preferred before.
    public var statistics: HealthStatistics

    /// Creates an event.
    package init(at: MonotonicTime, _ kind: Kind, statistics: HealthStatistics = HealthStatistics()) {
        self.at = at
        self.kind = kind
        self.statistics = statistics
    }
}

/// The reason why a server was ejected (taken out of use for a time), or why the preferred server changed.
public enum SwitchCause: String, Sendable, Hashable, CaseIterable {
    /// The error ratio of the window reached its threshold.
    case errorRatio
    /// The accumulated score reached its threshold.
    case score
    /// The server was late much more often than the other servers.
    case lateness
    /// The number of consecutive failures reached its limit.
    case consecutiveFailures
    /// A request failed during the server's trial.
    case trialFailed
    /// A server that precedes the current server in the order of preference is healthy again.
    case recovered
    /// The app requested the switch.
    case requested
    /// A pushed command requested the switch.
    case pushed
    /// A pushed command ended.
    case pushEnded
    /// The list of servers was replaced.
    case listReplaced
    /// The health of all servers was reset after a change of the environment.
    case reset
    /// A stored state was restored after a relaunch.
    case restored
}

extension SwitchEvent: CustomStringConvertible {
    /// A one-line description of the event, with the statistics that led to an ejection.
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
        case .probed(let server, let succeeded): "probed \(server), which \(succeeded ? "responded" : "failed")"
        case .trialStarted(let server, .zero): "the recovery trial of \(server) begins now"
        case .trialStarted(let server, let pause): "the recovery trial of \(server) begins in \(pause.inReport)"
        case .recovered(let server, let outage): "\(server) recovered after an outage of \(outage.inReport)"
        case .environmentChanged(let from, let to): "environment changed from \(from) to \(to)"
        case .pushed(let command): "pushed command: \(command.words)"
        }
    }
}

extension ServerSnapshot: CustomStringConvertible {
    /// A one-line description of the server's state, with the known statistics.
    public var description: String {
        let parts = [
            "\(id): \(state)",
            isCurrent ? "current" : nil,
            statistics.failureText,
            p50.map { "p50 \($0.inReport)" },
            p99.map { "p99 \($0.inReport)" },
            nextProbe.map { "next probe in \($0.inReport)" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension HealthStatistics {
    /// The number of failed requests as text, or `nil` if there were no requests.
    fileprivate var failureText: String? {
        guard requests > 0 else { return nil }
        let uncounted = uncountedFailures > 0 ? " (failures that do not count: \(uncountedFailures))" : ""
        return "\(failures + uncountedFailures) of \(requests) requests failed\(uncounted)"
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
        case .score: "failure score"
        case .lateness, .recovered, .requested, .pushed, .reset, .restored: rawValue
        }
    }
}
