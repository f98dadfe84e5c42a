package import SwitchyardServices

/// Reports the messages of one stream to the observers that were attached when the stream was opened.
///
/// The stream ends with ``end()`` or when the reporter is released.
package final class MessageReporter: Sendable {
    private let stream = RequestID()
    private let id: RequestID
    private let queue: ObserverQueue
    private let time: any TimeSource
    private let observers: [ClientObserver]
    private let hasEnded = Locked(false)

    fileprivate init(_ id: RequestID, _ core: ClientCore, _ observers: [ClientObserver]) {
        self.id = id
        self.observers = observers
        (queue, time) = (core.observers, core.time)
        send(.opened)
    }

    deinit {
        end()
    }

    /// The current time, at which a message is sent or received.
    package var now: MonotonicTime { time.now }

    /// Reports a message that was sent or received at the given time.
    package func report(_ message: StreamMessage, at now: MonotonicTime) {
        for observer in observers where observer.isAttached.withLock({ $0 }) {
            guard let messages = observer.messages else { continue }
            let event = StreamEvent(stream: stream, id: id, time: now, kind: .message(message.cut(to: messages.bytes)))
            queue.send(event, to: messages)
        }
    }

    /// Reports that the stream has ended.
    ///
    /// Calling this method again has no effect.
    package func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        if isFirst { send(.ended) }
    }

    private func send(_ kind: StreamEvent.Kind) {
        let event = StreamEvent(stream: stream, id: id, time: time.now, kind: kind)
        for messages in observers.compactMap(\.messages) { queue.send(event, to: messages) }
    }
}

extension Transfer {
    /// Returns a reporter for the messages of an open connection, or `nil` if no observer receives messages.
    package func messageReporter() -> MessageReporter? {
        guard let observers = core.present.clientObservers?.filter({ $0.messages != nil }), !observers.isEmpty else {
            return nil
        }
        return MessageReporter(id, core, observers)
    }
}

extension LiveBody {
    /// Returns a reporter for the messages of the body, or `nil` if no observer receives messages.
    package func messageReporter() -> MessageReporter? { transfer.messageReporter() }
}

extension StreamMessage {
    /// The maximum number of Unicode scalars of a message type.
    ///
    /// The server chooses the type, so it may be long. The limit is not in characters, because a character may consist
    /// of any number of bytes.
    private static let typeLimit = 100

    /// Returns the message with its type cut to ``typeLimit`` and with at most `bytes` bytes of its text.
    fileprivate func cut(to bytes: Int) -> StreamMessage {
        var message = self
        if type.utf8.count > Self.typeLimit {
            message.type = String(String.UnicodeScalarView(type.unicodeScalars.prefix(Self.typeLimit)))
        }
        guard let text, text.utf8.count > bytes else { return message }
        message.text = bytes > 0 ? String(decoding: text.utf8.prefix(bytes), as: UTF8.self) : nil
        return message
    }
}
