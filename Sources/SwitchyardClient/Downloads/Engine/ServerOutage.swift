import Foundation
import SwitchyardServices

/// What shows that no server is there yet to go on with what was broken off: the only one is being restarted, for
/// instance.
struct ServerOutage: Sendable {
    /// What stands for it among the events of a download.
    let error: TransportError
    /// How long the server asks for; a minute at most.
    let pause: Duration

    /// `nil` for a failure that no waiting helps against.
    init?(_ failure: RequestFailure) {
        guard case .transport(let error) = failure.reason, AttemptOutcome(error.kind).failureKind != nil else {
            return nil
        }
        self.error = error
        pause = .zero
    }

    /// `nil` for an answer that does not come from one in front of the server, or from one that is about to go or to come.
    init?(_ response: ServiceResponse) {
        guard (502...504).contains(response.status) else { return nil }
        error = TransportError(.other, message: "the server answered with \(response.status)")
        pause = min(RetryAfter.duration(in: response.headers, now: Date()) ?? .zero, .seconds(60))
    }
}
