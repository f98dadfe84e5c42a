package import SwitchyardServices

extension FailureKind {
    /// The failure as a part of a sentence whose subject is the server.
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

extension SwitchCause {
    /// Whether a server was ejected (taken out of use for a time) or the client switched because the server failed.
    package var blamesServer: Bool {
        switch self {
        case .errorRatio, .score, .lateness, .consecutiveFailures, .trialFailed: true
        case .recovered, .requested, .pushed, .pushEnded, .listReplaced, .reset, .restored: false
        }
    }
}
