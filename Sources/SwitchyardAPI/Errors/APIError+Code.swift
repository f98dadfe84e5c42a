import SwitchyardClient
import SwitchyardHTTP

extension APIError {
    /// The stable code of an error; its numbers never change their meaning.
    public enum Code: Sendable, Hashable {
        /// 101: no answer in time.
        case timeout
        /// 102: no connection to the network, or to any server; the message tells one from the other.
        case notConnected
        /// 103: cancelled.
        case cancelled
        /// 104: anything else; ``APIError/reason`` says what.
        case failed
        /// 105: the list is empty.
        case noData
        /// 106: the list has no further page.
        case noMoreData
        /// 1001 and above: the code of the app's own module.
        case module(Int)

        /// The numbers from which modules take theirs.
        public static let moduleNumbers = 1001...Int.max

        /// The codes that every module shares, in the order of their numbers.
        public static let common: [Code] = [.timeout, .notConnected, .cancelled, .failed, .noData, .noMoreData]

        /// The number of the code.
        public var number: Int {
            switch self {
            case .timeout: 101
            case .notConnected: 102
            case .cancelled: 103
            case .failed: 104
            case .noData: 105
            case .noMoreData: 106
            case .module(let number): number
            }
        }
    }
}

extension APIError.Code: CustomStringConvertible {
    /// The number.
    public var description: String { String(number) }
}

extension APIError.Code {
    /// The one place in which a reason becomes a code.
    init(_ reason: APIError.Reason) {
        self =
            switch reason {
            case .transport(let error): Self(error.kind)
            case .cancelled: .cancelled
            case .limited(.deadline): .timeout
            case .list(.noData): .noData
            case .list(.noMoreData): .noMoreData
            case .module(let failure): failure.code.map(Self.module) ?? .failed
            case .status(408), .status(504): .timeout
            case .renewal(let outage): outage.isTimeout ? .timeout : .notConnected
            case .status, .body, .list, .configuration, .security, .limited, .cache: .failed
            }
    }

    /// The code of a failure below HTTP; every kind is named, so that a new one cannot be forgotten.
    init(_ kind: TransportError.Kind) {
        self =
            switch kind {
            case .timeout, .connectTimeout: .timeout
            case .offline, .dnsFailure, .connectionRefused: .notConnected
            case .cancelled: .cancelled
            case .connectionReset, .truncated, .protocolViolation, .tlsFailure, .certificateRejected, .proxyFailure,
                .headersTooLarge, .bodyTooLarge, .requestBodyFailed, .decodingFailed, .invalidRequest, .unsupported,
                .closed, .other:
                .failed
            }
    }
}

extension TransportError.Kind {
    /// Whether the failure comes from the network's state rather than from the request.
    var mayPass: Bool {
        switch self {
        case .timeout, .connectTimeout, .offline, .dnsFailure, .connectionRefused, .connectionReset, .truncated,
            .proxyFailure:
            true
        case .cancelled, .protocolViolation, .tlsFailure, .certificateRejected, .headersTooLarge, .bodyTooLarge,
            .requestBodyFailed, .decodingFailed, .invalidRequest, .unsupported, .closed, .other:
            false
        }
    }
}
