/// An event of a server, as the HTML Standard defines it (section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// Its type; `message` when the server names none.
    public var type: String
    /// Its data; several lines are joined by LF.
    public var data: String
    /// The last event id that the server has given, with this event or before; empty when none.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}
