package import SwitchyardServices

extension FailureKind {
    /// The failure as a part of a sentence whose subject is the server.
    package var deed: String {
        switch self {
        case .refused: "refused connections"
        case .dnsFailure: "was not found by DNS"
        case .tlsFailure: "failed the TLS handshake"
        case .certificateRejected: "presented an untrusted certificate"
        case .connectTimeout: "did not accept connections in time"
        case .timeout: "did not respond"
        case .reset: "reset connections"
        case .truncated: "truncated its responses"
        case .protocolViolation: "sent invalid HTTP"
        case .http(let status): "responded with \(status)"
        case .overtaken: "did not respond in time"
        case .other: "failed"
        }
    }
}

extension SwitchCause {
    /// Whether the ejection or the switch happened because the server failed.
    package var blamesServer: Bool {
        switch self {
        case .errorRatio, .score, .lateness, .consecutiveFailures, .trialFailed: true
        case .recovered, .requested, .pushed, .pushEnded, .listReplaced, .reset, .restored: false
        }
    }
}
