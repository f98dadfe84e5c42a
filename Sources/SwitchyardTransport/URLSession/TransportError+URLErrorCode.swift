import SwitchyardHTTP

extension TransportError.Kind {
    /// Creates the kind of failure for a code of `NSURLErrorDomain`.
    ///
    /// An unknown code becomes ``other``.
    package init(urlErrorCode code: Int) {
        self = Self.byURLErrorCode[code] ?? .other
    }

    /// The kinds by their codes in Foundation's headers (`NSURLError.h`).
    private static let byURLErrorCode: [Int: Self] = [
        -999: .cancelled,
        -1000: .invalidRequest, -1002: .invalidRequest,
        -1001: .timeout,
        -1003: .dnsFailure, -1006: .dnsFailure,
        -1004: .connectionRefused,
        -1005: .connectionReset,
        -1009: .offline, -1018: .offline, -1019: .offline, -1020: .offline, -2000: .offline,
        -1011: .protocolViolation, -1017: .protocolViolation, -1007: .protocolViolation, -1010: .protocolViolation,
        -1014: .truncated,
        -1015: .decodingFailed, -1016: .decodingFailed, -3006: .decodingFailed, -3007: .decodingFailed,
        -1021: .requestBodyFailed, -1100: .requestBodyFailed, -1101: .requestBodyFailed, -1102: .requestBodyFailed,
        -1103: .bodyTooLarge,
        -1022: .unsupported,
        -1200: .tlsFailure, -1205: .tlsFailure, -1206: .tlsFailure,
        -1201: .certificateRejected, -1202: .certificateRejected, -1203: .certificateRejected,
        -1204: .certificateRejected,
    ]
}
