import Switchyard

/// A call that was made in a world (a random scenario), and its result.
struct PlayedCall: Sendable {
    /// The result of the call.
    enum Outcome: Sendable, Equatable {
        case answered(Int)
        case failed(RequestFailure.Reason)
    }

    /// The result of the call for a client that sends it once, to one server.
    struct Reference: Sendable, Equatable {
        var server: Int
        var reply: ServerReply
        /// The status of the response, or `nil` if there is no response within the deadline.
        var status: Int?
    }

    var number: Int
    var kind: CallKind
    var endpoint: Int
    var priority: RequestPriority
    /// The time in seconds at which the call was made.
    ///
    /// `deadline` is the maximum duration of the call in seconds.
    var time: Double
    var deadline: Double
    /// The result for a client without switching that uses the first server of the list.
    var byFirst: Reference
    /// The result for a client without switching that uses the server that was preferred when the call was made.
    var byCurrent: Reference
    /// The result, or `nil` while the call has not ended.
    var outcome: Outcome?
    var endTime = 0.0
    /// Whether the result of the call reports that the call may have been executed, without a response that confirms
    /// it.
    var mayHaveBeenExecuted = false
    /// The requests that were sent for the call.
    var sendings: [TrafficRecord.Sending] = []
}
