import Foundation
import SwitchyardServices

/// A parser that turns the lines of one connection's event stream into events (HTML Standard, section 9.2.6).
struct EventParser: Sendable {
    /// The last event id, possibly from an earlier connection; the next connection sends it as `Last-Event-ID`.
    private(set) var lastEventID: String
    /// The last reconnection time that the server set on this connection, or `nil` if it set no time.
    private(set) var reconnectionTime: Duration?

    private var idBuffer: String
    private var typeBuffer = ""
    private var dataBuffer = ""

    init(lastEventID: String = "") {
        self.lastEventID = lastEventID
        idBuffer = lastEventID
    }

    /// The number of buffered bytes of the incomplete event.
    var size: Int { dataBuffer.utf8.count + typeBuffer.utf8.count }

    /// Parses a line.
    ///
    /// Returns the complete event if the line is empty; otherwise, `nil`.
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
            // The value is capped because larger numbers overflow a `Duration`.
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

/// A server-sent event, as defined by the HTML Standard (section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The event type; `message` if the server sent no type.
    public var type: String
    /// The data of the event.
    ///
    /// If the event has several data lines, they are joined by LF.
    public var data: String
    /// The last event id that the server sent, with this event or an earlier event; empty if the server sent no id.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}
