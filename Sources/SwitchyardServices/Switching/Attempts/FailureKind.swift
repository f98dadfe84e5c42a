/// The kind of failure of an attempt, as evidence about the server.
public enum FailureKind: Sendable, Hashable {
    /// The exchange failed below HTTP.
    case wire(WireFailure)
    /// The server responded with this status: 408, 421, 425, 5xx, or 429 if it means that the server is overloaded.
    case http(Int)
    /// The attempt was overtaken: it was slow, and its hedge (a second attempt on another server) responded first.
    case overtaken
}

/// Short names of frequent failures below HTTP.
extension FailureKind {
    package static var refused: FailureKind { .wire(.connectionRefused) }
    package static var dnsFailure: FailureKind { .wire(.dnsFailure) }
    package static var tlsFailure: FailureKind { .wire(.tlsFailure) }
    package static var certificateRejected: FailureKind { .wire(.certificateRejected) }
    package static var connectTimeout: FailureKind { .wire(.connectTimeout) }
    package static var timeout: FailureKind { .wire(.timeout) }
    package static var reset: FailureKind { .wire(.connectionReset) }
    package static var truncated: FailureKind { .wire(.truncated) }
    package static var protocolViolation: FailureKind { .wire(.protocolViolation) }
    package static var other: FailureKind { .wire(.other) }
}

extension FailureKind: CustomStringConvertible {
    /// The name of the kind in reports, such as `refused` or `http503`.
    public var description: String {
        switch self {
        case .wire(.connectionRefused): "refused"
        case .wire(.dnsFailure): "dns"
        case .wire(.tlsFailure): "tls"
        case .wire(.certificateRejected): "certificate"
        case .wire(.connectionReset): "reset"
        case .wire(.protocolViolation): "protocol"
        case .wire(let failure): failure.rawValue
        case .http(let status): "http\(status)"
        case .overtaken: "overtaken"
        }
    }

    /// The weight of the failure as evidence.
    ///
    /// A refused connection and a failure of DNS, TLS or the certificate weigh 1.5, because a healthy server does not
    /// cause them. Status 429 and 503 weigh 0.5 and ``overtaken`` weighs 0.6, because a healthy but busy server causes
    /// them too. All other failures weigh 1.0.
    var weight: Double {
        switch self {
        case .wire(.connectionRefused), .wire(.dnsFailure), .wire(.tlsFailure), .wire(.certificateRejected): 1.5
        case .overtaken: 0.6
        case .http(429), .http(503): 0.5
        default: 1
        }
    }

    /// Whether the failure is an HTTP response, which proves that the path to the server works.
    package var isAnswer: Bool {
        if case .http = self { true } else { false }
    }

    /// Whether the server reports that it is overloaded.
    package var isRejection: Bool {
        self == .http(503) || self == .http(429)
    }

    /// Whether the failure may be caused by load: the server is slow, or reports that it is overloaded.
    var isOverload: Bool {
        switch self {
        case .wire(.timeout), .overtaken: true
        default: isRejection
        }
    }

    /// Whether the attempt certainly reached no server: the connection was refused, or the name was not found.
    ///
    /// No server did any work, so replacing the attempt by another attempt adds no load.
    package var isWithoutWork: Bool { self == .refused || self == .dnsFailure }

    /// Whether no connection was established, so that the failure does not depend on the request.
    var isUnreached: Bool {
        switch self {
        case .wire(.connectionRefused), .wire(.dnsFailure), .wire(.tlsFailure), .wire(.certificateRejected),
            .wire(.connectTimeout):
            true
        default: false
        }
    }

    /// Whether ``FailureFilter/suspicious`` counts the failure: every failure other than an HTTP status, and the
    /// statuses 502, 503 and 504.
    var isSuspicious: Bool {
        switch self {
        case .http(let status): (502...504).contains(status)
        default: true
        }
    }
}
