import SwitchyardServices

/// A span that has ended.
struct Span: Sendable {
    /// The kind of a span, with its number in OTLP.
    enum Kind: Int, Sendable {
        case `internal` = 1
        case client = 3
    }

    /// A point in time within a span.
    struct Event: Sendable {
        var name: String
        /// The time in nanoseconds since 1970.
        var time: UInt64
        var attributes: Attributes
    }

    var context: TraceContext
    var parent: UInt64?
    var name: String
    var kind: Kind
    /// The times in nanoseconds since 1970.
    var start: UInt64
    var end: UInt64
    var attributes: Attributes
    var events: [Event] = []
    var droppedEvents = 0
    var hasFailed = false

    /// The span in the JSON encoding of OTLP.
    var json: JSONValue {
        var members: JSONMembers = [
            "traceId": .string(context.traceID),
            "spanId": .string(context.spanID),
            "flags": .number(JSONNumber(context.flagBits)),
            "name": .string(name),
            "kind": .number(JSONNumber(kind.rawValue)),
            "startTimeUnixNano": .string("\(start)"),
            "endTimeUnixNano": .string("\(max(start, end))"),
            "attributes": attributes.json,
            "status": hasFailed ? ["code": 2] : [:],
        ]
        if let parent { members["parentSpanId"] = .string(HexDigits.text(parent)) }
        if let state = context.state { members["traceState"] = .string(state) }
        if !events.isEmpty { members["events"] = .array(events.map(\.json)) }
        if droppedEvents > 0 { members["droppedEventsCount"] = .number(JSONNumber(droppedEvents)) }
        return .object(members)
    }
}

extension Span.Event {
    fileprivate var json: JSONValue {
        ["name": .string(name), "timeUnixNano": .string("\(time)"), "attributes": attributes.json]
    }
}
