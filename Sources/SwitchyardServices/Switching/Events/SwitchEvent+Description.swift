extension SwitchEvent: CustomStringConvertible {
    /// What happened, in one line, with the figures that led to an ejection.
    public var description: String {
        guard case .ejected = kind, let failures = statistics.failureText else { return kind.description }
        let last = statistics.lastFailure.map { ", the last one \($0)" } ?? ""
        return "\(kind), \(failures)\(last)"
    }
}

extension SwitchEvent.Kind: CustomStringConvertible {
    /// What happened, in one line.
    public var description: String {
        switch self {
        case .switched(let from, let to, let cause): "switched from \(from) to \(to) (\(cause.words))"
        case .ejected(let server, _, let cause): "ejected \(server) (\(cause.words))"
        case .probed(let server, let succeeded): "probed \(server), which \(succeeded ? "answered" : "failed")"
        case .trialStarted(let server, let pause): "\(server) goes on trial after \(pause.rounded)"
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
    /// How many requests failed; `nil` when there were none.
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
