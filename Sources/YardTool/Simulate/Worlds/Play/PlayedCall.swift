import Switchyard

/// A call that was made in a world, and its result.
struct PlayedCall: Sendable {
    /// The result for the caller.
    enum Outcome: Sendable, Equatable {
        case answered(Int)
        case failed(RequestFailure.Reason)
    }

    /// The result with a client that sends the call once, to one server.
    struct Reference: Sendable, Equatable {
        var server: Int
        var reply: ServerReply
        /// The status of the response, or `nil` if there is none within the deadline.
        var status: Int?
    }

    var number: Int
    var kind: CallKind
    var endpoint: Int
    var priority: RequestPriority
    /// The dispatch time in seconds; `deadline` is the maximum duration in seconds.
    var time: Double
    var deadline: Double
    /// The result on the first server of the list, for a client without switching.
    var byFirst: Reference
    /// The result on the server that was preferred at that time.
    var byCurrent: Reference
    /// The result, or `nil` while the call has not ended.
    var outcome: Outcome?
    var endTime = 0.0
    /// Whether the result states that the call may have been executed, without a response that confirms it.
    var mayHaveBeenExecuted = false
    /// The requests that were sent for the call.
    var sendings: [TrafficRecord.Sending] = []
}
