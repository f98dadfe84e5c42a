import Foundation
package import SwitchyardHTTP
import SwitchyardServices

extension AttemptOutcome {
    /// Creates the outcome for the result of an attempt.
    init(
        of result: Result<HTTPResponse, TransportError>,
        latency: Duration,
        tooManyRequests meaning: TooManyRequests,
        now: @autoclosure () -> Date = Date()
    ) {
        switch result {
        case .success(let response):
            let isRefusal = response.status == 429 || response.status == 503
            let retryAfter = isRefusal ? RetryAfter.duration(in: response.headers, now: now()) : nil
            self.init(
                status: response.status,
                latency: latency,
                retryAfter: retryAfter,
                tooManyRequests: meaning
            )
        case .failure(let error):
            self.init(error.kind)
        }
    }

    /// Creates the outcome for a failure below HTTP.
    ///
    /// Faults of the server, or of the network to the server, count against the server. Faults of the app, of the
    /// request or of this machine do not count against the server.
    package init(_ kind: TransportError.Kind) {
        switch kind {
        case .connectionRefused: self = .failure(.refused)
        case .dnsFailure: self = .failure(.dnsFailure)
        case .tlsFailure: self = .failure(.tlsFailure)
        case .certificateRejected: self = .failure(.certificateRejected)
        case .connectTimeout: self = .failure(.connectTimeout)
        case .timeout: self = .failure(.timeout)
        case .connectionReset: self = .failure(.reset)
        case .truncated: self = .failure(.truncated)
        case .protocolViolation, .decodingFailed: self = .failure(.protocolViolation)
        case .other: self = .failure(.other)
        case .headersTooLarge, .bodyTooLarge: self = .answered
        case .cancelled, .offline, .resourcesExhausted, .proxyFailure, .requestBodyFailed, .invalidRequest,
            .unsupported, .closed:
            self = .neutral
        }
    }
}
