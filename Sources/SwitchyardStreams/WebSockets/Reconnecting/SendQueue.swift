import SwitchyardServices

/// The messages of a ``ReconnectingWebSocket`` that have not ended: a pure value.
///
///     waiting --take--> under way --sent--> ended
///        ^                 |
///        |                 +--nothing sent--> waiting, in front
///        +--send again--- interrupted <-- may have been delivered
struct SendQueue: Sendable {
    /// Told how a message has ended.
    typealias Waiter = @Sendable (Result<Void, WebSocketSendFailure>) -> Void

    /// A message.
    struct Entry: Sendable {
        var id: UInt64
        var message: WebSocket.Message
        var waiter: Waiter
    }

    /// Someone who is to be told.
    struct Ended {
        var waiter: Waiter
        var failure: WebSocketSendFailure
    }

    private let mostMessages: Int
    private let mostBytes: Int
    private var waiting: [Entry] = []
    private var underWay: Entry?
    /// Whether the caller of the message under way waits no more.
    private var isGivenUp = false
    private(set) var interrupted: [Entry] = []
    private var bytes = 0
    private var end: WebSocketSendFailure?

    init(messages: Int, bytes: Int) {
        mostMessages = max(1, messages)
        mostBytes = max(0, bytes)
    }

    private var count: Int { waiting.count + interrupted.count + (underWay == nil ? 0 : 1) }

    /// Takes a message; the failure when it does not.
    mutating func add(_ entry: Entry) -> WebSocketSendFailure? {
        if let end { return end }
        let (sum, overflow) = bytes.addingReportingOverflow(entry.message.size)
        // One message is taken whatever its size, or it could never be sent.
        let isFull = count >= mostMessages || (count > 0 && (overflow || sum > mostBytes))
        guard !isFull else { return .queueFull(messages: count, bytes: bytes) }
        waiting.append(entry)
        bytes = sum
        return nil
    }

    /// Whether there is a message to send.
    var hasWork: Bool { underWay == nil && !waiting.isEmpty }

    /// The next message to send; `nil` while there is none.
    mutating func take() -> Entry? {
        guard underWay == nil, !waiting.isEmpty else { return nil }
        underWay = waiting.removeFirst()
        isGivenUp = false
        return underWay
    }

    /// Takes note that the message under way has been sent.
    mutating func sent() -> Waiter? {
        defer { underWay = nil }
        bytes -= underWay?.message.size ?? 0
        return underWay?.waiter
    }

    /// Takes note that the message under way was not sent.
    ///
    /// - Parameter mayHaveBeenDelivered: Whether the server may have it; if not, it goes first over the next connection.
    /// - Returns: The caller of a message that ends by this, since nobody waits for it any more.
    mutating func broke(mayHaveBeenDelivered: Bool) -> Ended? {
        guard let entry = underWay else { return nil }
        underWay = nil
        if isGivenUp {
            bytes -= entry.message.size
            return Ended(waiter: entry.waiter, failure: mayHaveBeenDelivered ? .mayHaveBeenDelivered : .cancelled)
        }
        if mayHaveBeenDelivered { interrupted.append(entry) } else { waiting.insert(entry, at: 0) }
        return nil
    }

    /// Ends the messages that may have been delivered, or has them sent again, in front of the others.
    mutating func settle(_ decision: ReconnectingWebSocket.Interrupted) -> [Ended] {
        let entries = interrupted
        interrupted = []
        guard decision == .fail else {
            waiting.insert(contentsOf: entries, at: 0)
            return []
        }
        bytes -= entries.reduce(0) { $0 + $1.message.size }
        return entries.map { Ended(waiter: $0.waiter, failure: .mayHaveBeenDelivered) }
    }

    /// Takes a message back for a caller who waits no more; `nil` for one that has ended, and for one that is under way,
    /// which ends by itself.
    mutating func takeBack(_ id: UInt64) -> Ended? {
        if underWay?.id == id { isGivenUp = true }
        if let place = waiting.firstIndex(where: { $0.id == id }) {
            let entry = waiting.remove(at: place)
            bytes -= entry.message.size
            return Ended(waiter: entry.waiter, failure: .cancelled)
        }
        guard let place = interrupted.firstIndex(where: { $0.id == id }) else { return nil }
        let entry = interrupted.remove(at: place)
        bytes -= entry.message.size
        return Ended(waiter: entry.waiter, failure: .mayHaveBeenDelivered)
    }

    /// Ends all messages, and takes no more.
    mutating func close(_ failure: WebSocketSendFailure) -> [Ended] {
        end = end ?? failure
        let delivered = interrupted + (underWay.map { [$0] } ?? [])
        let ended =
            delivered.map { Ended(waiter: $0.waiter, failure: .mayHaveBeenDelivered) }
            + waiting.map { Ended(waiter: $0.waiter, failure: failure) }
        (waiting, interrupted, underWay, bytes) = ([], [], nil, 0)
        return ended
    }
}
