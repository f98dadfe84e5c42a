import Foundation
import SwitchyardHTTP
import SwitchyardServices

extension AttemptOutcome {
    /// Creates the outcome for the result of an attempt.
    init(
        of result: Result<HTTPResponse, TransportError>,
        latency: Duration,
        tooManyRequests meaning: SwitchPolicy.TooManyRequests,
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
}
