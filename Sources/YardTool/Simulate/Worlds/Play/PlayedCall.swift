import Switchyard

/// A call that was made in a world, and what became of it.
struct PlayedCall: Sendable {
    /// How it ended for its caller.
    enum Outcome: Sendable, Equatable {
        case answered(Int)
        case failed(RequestFailure.Reason)
    }

    /// What became of it with a client that sends it once, to one server.
    struct Reference: Sendable, Equatable {
        var server: Int
        var reply: ServerReply
        /// The status of the answer; `nil` when there is none within the deadline.
        var status: Int?
    }

    var number: Int
    var kind: CallKind
    var endpoint: Int
    var priority: RequestPriority
    /// When it was dispatched and how long it could take, in seconds.
    var time: Double
    var deadline: Double
    /// Sent to the first server of the list: a client without switching.
    var byFirst: Reference
    /// Sent to the server that was preferred at the moment.
    var byCurrent: Reference
    /// How it ended; `nil` while it has not.
    var outcome: Outcome?
    var endTime = 0.0
    /// Whether its end says that it may have been executed, without an answer that says so.
    var mayHaveBeenExecuted = false
    /// The requests that were sent for it.
    var sendings: [TrafficRecord.Sending] = []
}
