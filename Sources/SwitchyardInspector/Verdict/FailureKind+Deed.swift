package import SwitchyardServices

extension FailureKind {
    /// What the server did wrong, as the predicate of a sentence about the server, such as `refused connections`.
    package var deed: String {
        switch self {
        case .wire(.connectionRefused): "refused connections"
        case .wire(.dnsFailure): "was not found by DNS"
        case .wire(.tlsFailure): "failed the TLS handshake"
        case .wire(.certificateRejected): "presented an untrusted certificate"
        case .wire(.connectTimeout): "did not accept connections in time"
        case .wire(.timeout): "did not respond"
        case .wire(.connectionReset): "reset connections"
        case .wire(.truncated): "truncated its responses"
        case .wire(.protocolViolation): "sent invalid HTTP"
        case .wire: "failed"
        case .http(let status): "responded with \(status)"
        case .overtaken: "did not respond in time"
        }
    }
}

/// What the pages say about a server that was ejected (taken out of use for a time) only because it was slow.
package enum Slowness {
    /// The predicate of a sentence about the slow server.
    package static let deed = "was slower than the others"
}

extension HealthStatistics {
    /// Returns whether an ejection shows only that the server was slow: its responses were late, and none of its recent
    /// requests failed in another way.
    ///
    /// - Parameter cause: The cause of the ejection.
    /// - Returns: Whether the server was only slow.
    package func showsOnlySlowness(_ cause: SwitchCause) -> Bool {
        cause == .lateness && (lastFailure ?? .overtaken) == .overtaken
    }

    /// Returns what an ejected server did wrong, as the predicate of a sentence about the server, such as `refused
    /// connections`.
    ///
    /// - Parameter cause: The cause of the ejection.
    /// - Returns: The predicate.
    package func deed(_ cause: SwitchCause) -> String {
        showsOnlySlowness(cause) ? Slowness.deed : lastFailure?.deed ?? "failed"
    }
}

extension SwitchCause {
    /// Whether this cause of an ejection or a switch is a failure of the server.
    package var blamesServer: Bool {
        switch self {
        case .errorRatio, .score, .lateness, .consecutiveFailures, .trialFailed: true
        case .recovered, .requested, .pushed, .pushEnded, .listReplaced, .reset, .restored: false
        }
    }
}
