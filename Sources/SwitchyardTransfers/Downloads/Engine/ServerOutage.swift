import Foundation
import SwitchyardClient
import SwitchyardHTTP
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
        switch failure.reason {
        case .transport(let cause) where AttemptOutcome(cause.kind).failureKind != nil: error = cause
        case .deadlineExceeded: error = TransportError(.timeout, message: "the server did not answer in time")
        default: return nil
        }
        pause = .zero
    }

    /// `nil` for an answer that does not come from one in front of the server, or from one that is about to go or to come.
    init?(_ response: ServiceResponse) {
        guard (502...504).contains(response.status) else { return nil }
        error = TransportError(.other, message: "the server answered with \(response.status)")
        pause = min(RetryAfter.duration(in: response.headers, now: Date()) ?? .zero, .seconds(60))
    }
}
