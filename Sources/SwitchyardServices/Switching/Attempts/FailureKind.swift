/// The kind of a failed attempt, as far as it is evidence about the server.
public enum FailureKind: Sendable, Hashable {
    /// Nothing listens at the address.
    case refused
    /// The name could not be resolved.
    case dnsFailure
    /// The TLS handshake failed.
    case tlsFailure
    /// The certificate was refused.
    case certificateRejected
    /// No connection came about in time.
    case connectTimeout
    /// No complete response arrived in time.
    case timeout
    /// The connection was broken off.
    case reset
    /// The body ended too early.
    case truncated
    /// The received data was not HTTP, or did not match what it claimed to be.
    case protocolViolation
    /// The server responded with this status: 408, 421, 425, 5xx, or 429 if it means that the server is overloaded.
    case http(Int)
    /// A hedge on another server responded first.
    case overtaken
    /// Anything else that is the server's fault.
    case other
}

extension FailureKind: CustomStringConvertible {
    /// The kind's name as in reports, such as `refused` or `http503`.
    public var description: String {
        switch self {
        case .refused: "refused"
        case .dnsFailure: "dns"
        case .tlsFailure: "tls"
        case .certificateRejected: "certificate"
        case .connectTimeout: "connectTimeout"
        case .timeout: "timeout"
        case .reset: "reset"
        case .truncated: "truncated"
        case .protocolViolation: "protocol"
        case .http(let status): "http\(status)"
        case .overtaken: "overtaken"
        case .other: "other"
        }
    }

    /// The weight of the failure: certain failures weigh more, those that a healthy but busy server also has weigh
    /// less.
    ///
    /// Hard 1.5, soft 1.0, overtaken 0.6, overload 0.5.
    var weight: Double {
        switch self {
        case .refused, .dnsFailure, .tlsFailure, .certificateRejected: 1.5
        case .overtaken: 0.6
        case .http(429), .http(503): 0.5
        default: 1
        }
    }

    /// Whether the failure is an HTTP response, which proves that the path to the server works.
    var isAnswer: Bool {
        if case .http = self { true } else { false }
    }

    /// Whether the server reports that it is overloaded.
    var isRejection: Bool {
        self == .http(503) || self == .http(429)
    }

    /// Whether the failure can come from load: the server is slow, or reports that it is overloaded.
    var isOverload: Bool {
        switch self {
        case .timeout, .overtaken: true
        default: isRejection
        }
    }

    /// Whether the attempt has certainly given no server any work: another one in its place adds no load.
    var isWithoutWork: Bool { self == .refused || self == .dnsFailure }

    /// Whether no connection came about: whatever was to be asked, the server was not there.
    var isUnreached: Bool {
        switch self {
        case .refused, .dnsFailure, .tlsFailure, .certificateRejected, .connectTimeout: true
        default: false
        }
    }

    /// Whether the published rule suspects the server.
    var isSuspicious: Bool {
        switch self {
        case .http(let status): (502...504).contains(status)
        default: true
        }
    }
}
