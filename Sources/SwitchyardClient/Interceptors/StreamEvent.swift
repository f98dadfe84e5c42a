package import SwitchyardServices

/// An event in the life of a stream of messages: one connection of an event stream, or of a WebSocket.
///
/// A ``ClientObserver`` receives these events after the ``DispatchEvent``s of the request that opened the stream.
package struct StreamEvent: Sendable {
    /// The kind of an event.
    package enum Kind: Sendable {
        /// The stream is open.
        case opened
        /// The app has sent or received a message.
        case message(StreamMessage)
        /// The stream has ended, or the app has released it.
        case ended
    }

    /// The identifier of the stream.
    ///
    /// All connections of a call have the same ``id``, but each connection is a stream of its own.
    package var stream: RequestID
    /// The identifier of the request that opened the stream.
    package var id: RequestID
    /// The time of the event, on the client's clock.
    package var time: MonotonicTime
    /// The kind of the event.
    package var kind: Kind

    /// The number of bytes of the text that the event carries.
    var textBytes: Int {
        guard case .message(let message) = kind else { return 0 }
        return message.text?.utf8.count ?? 0
    }

    /// The event without the text of its message.
    var withoutText: StreamEvent {
        guard case .message(var message) = kind else { return self }
        message.text = nil
        var event = self
        event.kind = .message(message)
        return event
    }
}

/// A message of an event stream or a WebSocket.
package struct StreamMessage: Sendable, Equatable {
    /// The direction of a message.
    package enum Direction: String, Codable, Sendable {
        case sent, received
    }

    /// Whether the app sent or received the message.
    package var direction: Direction
    /// The type of a server-sent event, or `text`, `binary` or `close` with the close code for a WebSocket.
    package var type: String
    /// The number of bytes of the whole message.
    package var size: Int
    /// The beginning of a text, up to ``MessageObserver/bytes``.
    ///
    /// The text is `nil` for a binary message and for a Close frame without a reason. It is also `nil` if the observer
    /// requests no texts, or if too many texts wait for it.
    package var text: String?

    /// Creates a message with a text.
    package init(_ direction: Direction, type: String, text: String) {
        (self.direction, self.type, self.text) = (direction, type, text)
        size = text.utf8.count
    }

    /// Creates a binary message.
    package init(_ direction: Direction, type: String, size: Int) {
        (self.direction, self.type, self.size) = (direction, type, size)
    }
}

/// The part of a ``ClientObserver`` that receives the messages of streams.
package struct MessageObserver: Sendable {
    /// The maximum number of bytes of each text that the observer receives.
    let bytes: Int
    /// A closure that is called for each event, on the observers' queue.
    let observe: @Sendable (StreamEvent) -> Void

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - bytes: The maximum number of bytes of each text that the observer receives; 0 for no texts.
    ///   - observe: Called for each event, on the observers' queue.
    package init(bytes: Int, observe: @escaping @Sendable (StreamEvent) -> Void) {
        self.bytes = bytes
        self.observe = observe
    }
}
