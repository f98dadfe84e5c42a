import Foundation
import SwitchyardServices

/// Makes events of the lines of an event stream (HTML Standard, section 9.2.6): pure, for one connection.
struct EventParser: Sendable {
    /// The id with which the next connection says where it has been; events of an earlier connection count.
    private(set) var lastEventID: String
    /// How long to wait before connecting again, as the server said last.
    private(set) var reconnectionTime: Duration?

    private var idBuffer: String
    private var typeBuffer = ""
    private var dataBuffer = ""

    init(lastEventID: String = "") {
        self.lastEventID = lastEventID
        idBuffer = lastEventID
    }

    /// The bytes that the event under way holds.
    var size: Int { dataBuffer.utf8.count + typeBuffer.utf8.count }

    /// Takes the bytes of a line in; an empty one completes an event.
    mutating func take(_ bytes: Data) -> ServerSentEvent? {
        guard let first = bytes.first else { return dispatch() }
        guard first != UInt8(ascii: ":") else { return nil }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            process(Self.text(bytes), "")
            return nil
        }
        var value = bytes[(colon + 1)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        process(Self.text(bytes[..<colon]), Self.text(value))
        return nil
    }

    private mutating func process(_ field: String, _ value: String) {
        switch field {
        case "event": typeBuffer = value
        case "data": dataBuffer += value + "\n"
        case "id" where !value.unicodeScalars.contains("\0"): idBuffer = value
        case "retry" where !value.isEmpty && value.utf8.allSatisfy(\.isDigit):
            // A number that no clock can hold is as good as for ever.
            reconnectionTime = .milliseconds(Int64(value).map { min($0, 1 << 40) } ?? 1 << 40)
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = idBuffer
        defer {
            typeBuffer = ""
            dataBuffer = ""
        }
        guard !dataBuffer.isEmpty else { return nil }
        return ServerSentEvent(
            type: typeBuffer.isEmpty ? "message" : typeBuffer,
            data: String(dataBuffer.dropLast()),
            lastEventID: lastEventID
        )
    }

    private static func text(_ bytes: Data) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

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
