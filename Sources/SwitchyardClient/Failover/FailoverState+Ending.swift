import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension FailoverState {
    /// The effects that remain after the end of the request, returned once.
    struct Ending {
        var result: Result<HTTPResponse, RequestFailure.Reason>
        var winner: Int?
        /// If no attempt won, the attempt whose end is the result, or `nil` if there is none.
        var decisiveCandidate: Int?
        var attempts: ContiguousArray<Attempt> = []
        var timer: (any ScheduledTimer)?
        /// Whether the request ended at the deadline without a response as its result.
        var isOverdue = false
        /// Whether a server may have executed an attempt that has ended without a response to confirm it.
        var mayHaveBeenExecuted = false
        /// The fate of the request over all attempts: how much of it a server may have executed.
        var fate = RequestFate.unsent
        /// The guard that stopped the failover of the last attempt, or `nil` if no failover was stopped.
        var obstacle: FailoverGuard?

        /// The attempt that determines the result.
        var decisive: Int? { winner ?? decisiveCandidate ?? attempts.indices.last }

        /// Cancels the transfers of the attempts that have no response yet.
        mutating func cancelAttemptsWithoutResponse() {
            for index in attempts.indices where attempts[index].outcome == nil {
                // If the request ended with another attempt's response, the end of this attempt is not reported.
                if case .failure = result, let watched = attempts[index].task as? MonitoredAttempt {
                    watched.tell(.failure(TransportError(.cancelled, message: "the request has ended")))
                }
                // A server that redirected the attempt has received the request. An attempt that is being passed to its
                // transport at this moment may still be sent.
                let isUnsent = attempts[index].task?.withdraw() ?? false
                guard !isUnsent || attempts[index].hops > 0 else { continue }
                (mayHaveBeenExecuted, fate) = (true, .open)
            }
        }

        /// Returns the outcome of an attempt that counts for or against its server.
        ///
        /// If the attempt has not ended, another server responded first, or the deadline passed, or the caller ended
        /// the request. Nothing counts against the server if the caller ended the request or if the attempt was
        /// redirected to another host.
        func outcome(of index: Int) -> AttemptOutcome {
            if let outcome = attempts[index].outcome { return outcome }
            if attempts[index].trail?.value.hasLeft ?? false { return .neutral }
            if isOverdue { return .failure(.timeout) }
            return if case .success = result { .unfinished } else { withoutResponse }
        }

        /// The outcome of an attempt that ended before its server could be expected to respond.
        ///
        /// It is neutral if another attempt ended the request with a failure. Otherwise the server has received the
        /// request, and the token of the attempt is not returned.
        var withoutResponse: AttemptOutcome { winner == nil ? .unfinished : .neutral }
    }
}
