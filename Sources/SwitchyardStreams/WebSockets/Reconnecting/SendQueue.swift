import SwitchyardServices

/// The messages of a ``ReconnectingWebSocket`` that have not been sent or failed yet.
///
/// The value performs no I/O.
///
///     waiting --take--> under way --sent--> ended
///        ^                 |
///        |                 +--nothing sent--> waiting, in front
///        +--send again--- interrupted <-- may have been delivered
struct SendQueue: Sendable {
    /// A closure that receives the result of sending a message.
    typealias Waiter = @Sendable (Result<Void, WebSocketSendFailure>) -> Void

    /// A message in the queue.
    struct Entry: Sendable {
        var id: UInt64
        var message: WebSocket.Message
        var waiter: Waiter
        /// Whether a server may have received the message over an earlier connection.
        var mayHaveBeenDelivered = false

        /// Returns the message as failed, with this failure.
        ///
        /// If an earlier connection may have delivered the message, the failure is
        /// ``WebSocketSendFailure/mayHaveBeenDelivered`` instead.
        fileprivate func ended(_ failure: WebSocketSendFailure) -> Ended {
            Ended(waiter: waiter, failure: mayHaveBeenDelivered ? .mayHaveBeenDelivered : failure)
        }
    }

    /// A message that has failed, with the waiter to notify.
    struct Ended {
        var waiter: Waiter
        var failure: WebSocketSendFailure
    }

    private let mostMessages: Int
    private let mostBytes: Int
    private var waiting: [Entry] = []
    private var underWay: Entry?
    /// Whether the task that waits for the message in transmission was cancelled.
    private var isGivenUp = false
    private(set) var interrupted: [Entry] = []
    private var bytes = 0
    private var end: WebSocketSendFailure?

    init(messages: Int, bytes: Int) {
        mostMessages = max(1, messages)
        mostBytes = max(0, bytes)
    }

    private var count: Int { waiting.count + interrupted.count + (underWay == nil ? 0 : 1) }

    /// Adds a message, or returns a failure if the queue does not accept the message.
    mutating func add(_ entry: Entry) -> WebSocketSendFailure? {
        if let end { return end }
        let (sum, overflow) = bytes.addingReportingOverflow(entry.message.size)
        // An empty queue accepts a message of any size, because a message above the byte limit could otherwise never be
        // sent.
        let isFull = count >= mostMessages || (count > 0 && (overflow || sum > mostBytes))
        guard !isFull else { return .queueFull(messages: count, bytes: bytes) }
        waiting.append(entry)
        bytes = sum
        return nil
    }

    /// Whether a waiting message can be sent now.
    var hasWork: Bool { underWay == nil && !waiting.isEmpty }

    /// Returns the next message to send, or `nil` if there is no message or another message is being sent.
    mutating func take() -> Entry? {
        guard underWay == nil, !waiting.isEmpty else { return nil }
        underWay = waiting.removeFirst()
        isGivenUp = false
        return underWay
    }

    /// Records that the current message has been sent, and returns its waiter.
    mutating func sent() -> Waiter? {
        defer { underWay = nil }
        bytes -= underWay?.message.size ?? 0
        return underWay?.waiter
    }

    /// Records that the current message was not sent.
    ///
    /// - Parameter mayHaveBeenDelivered: Whether the server may have received the message. If no server can have
    ///   received the message over any connection so far, the message is sent first over the next connection.
    /// - Returns: The message if it has failed because the task that waits for it was cancelled; otherwise, `nil`.
    mutating func broke(mayHaveBeenDelivered: Bool) -> Ended? {
        guard var entry = underWay else { return nil }
        underWay = nil
        if mayHaveBeenDelivered { entry.mayHaveBeenDelivered = true }
        if isGivenUp {
            bytes -= entry.message.size
            return entry.ended(.cancelled)
        }
        if entry.mayHaveBeenDelivered { interrupted.append(entry) } else { waiting.insert(entry, at: 0) }
        return nil
    }

    /// Fails the messages that may have been delivered, or moves these messages to the front of the queue to send them
    /// again.
    mutating func settle(_ decision: ReconnectingWebSocket.Interrupted) -> [Ended] {
        let entries = interrupted
        interrupted = []
        guard decision == .fail else {
            waiting.insert(contentsOf: entries, at: 0)
            return []
        }
        bytes -= entries.reduce(0) { $0 + $1.message.size }
        return entries.map { $0.ended(.mayHaveBeenDelivered) }
    }

    /// Removes a message because the task that waits for it was cancelled.
    ///
    /// Returns `nil` if the message is no longer in the queue or is being sent; a message that is being sent is
    /// completed.
    mutating func takeBack(_ id: UInt64) -> Ended? {
        if underWay?.id == id { isGivenUp = true }
        if let place = waiting.firstIndex(where: { $0.id == id }) {
            let entry = waiting.remove(at: place)
            bytes -= entry.message.size
            return entry.ended(.cancelled)
        }
        guard let place = interrupted.firstIndex(where: { $0.id == id }) else { return nil }
        let entry = interrupted.remove(at: place)
        bytes -= entry.message.size
        return entry.ended(.mayHaveBeenDelivered)
    }

    /// Fails all messages, and accepts no more messages.
    mutating func close(_ failure: WebSocketSendFailure) -> [Ended] {
        end = end ?? failure
        let delivered = interrupted + (underWay.map { [$0] } ?? [])
        let ended =
            delivered.map { Ended(waiter: $0.waiter, failure: .mayHaveBeenDelivered) }
            + waiting.map { $0.ended(failure) }
        (waiting, interrupted, underWay, bytes) = ([], [], nil, 0)
        return ended
    }
}
