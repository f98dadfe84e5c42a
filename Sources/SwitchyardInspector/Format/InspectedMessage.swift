package import SwitchyardClient

/// A message of an event stream or a WebSocket.
package struct InspectedMessage: Codable, Sendable, Equatable {
    /// The direction of a message.
    package typealias Direction = StreamMessage.Direction

    /// The number of the message within its call, from 1 in the order in which the inspector recorded the messages.
    package var number: Int
    /// Whether the app sent or received the message.
    package var direction: Direction
    /// The time at which the app sent or received the message.
    package var time: Double
    /// The type of a server-sent event, or `text`, `binary` or `close` with the close code for a WebSocket.
    package var type: String
    /// The number of bytes of the whole message.
    package var size: Int
    /// The beginning of a text; missing for a binary message, and if texts are not stored.
    package var text: String?
    /// Whether ``text`` is incomplete; missing if there is no text or the text is complete.
    package var isCut: Bool?
}

/// The numbers of messages and bytes of a stream that a call has opened.
package struct InspectedStream: Codable, Sendable, Equatable {
    /// The number of received messages.
    package var received = 0
    /// The number of sent messages.
    package var sent = 0
    /// The number of bytes of all messages.
    package var bytes = 0
    /// The end of the stream; missing while it is open.
    package var end: Double?

    /// Counts a message.
    mutating func add(_ message: InspectedMessage) {
        switch message.direction {
        case .sent: sent += 1
        case .received: received += 1
        }
        bytes += message.size
    }
}
