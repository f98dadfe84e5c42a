import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardStreams

/// Parsing of server-sent events as in the HTML Standard (section 9.2.6).
@Suite
struct EventParserTests {
    /// Parses a whole stream that arrives in pieces of the given size.
    private func parse(_ text: String, cut size: Int = 7, parser: EventParser = EventParser()) throws -> (
        events: [ServerSentEvent], parser: EventParser
    ) {
        var (splitter, parser) = (LineSplitter(.any, limit: 1_000), parser)
        var events: [ServerSentEvent] = []
        var rest = Data(text.utf8)
        while !rest.isEmpty {
            splitter.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let line = try splitter.next() {
                if let event = parser.take(line) { events.append(event) }
            }
        }
        return (events, parser)
    }

    @Test(arguments: 1...20)
    func `server-sent events are parsed correctly wherever the stream is split into chunks`(size: Int) throws {
        let text = ": comment\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"

        let events = try parse(text, cut: size).events

        // The example of the standard: an empty id resets the last event ID, and only one leading space is removed.
        #expect(
            events == [
                ServerSentEvent(data: "first event", lastEventID: "1"),
                ServerSentEvent(data: "second event"),
                ServerSentEvent(data: " third event"),
            ]
        )
    }

    @Test(arguments: ["\n", "\r", "\r\n"])
    func `LF, CR and CRLF each end a line of an event stream`(end: String) throws {
        let text = ["event: add", "data: 73857293", "", "event: remove", "data: 2153", "", ""].joined(separator: end)

        let events = try parse(text).events

        #expect(events == [.init(type: "add", data: "73857293"), .init(type: "remove", data: "2153")])
    }

    @Test func `data lines of an event are joined with line feeds, including empty ones`() throws {
        // The examples of the standard: the stock quote, the empty data lines, and the optional space.
        #expect(try parse("data: YHOO\ndata: +2\ndata: 10\n\n").events.map(\.data) == ["YHOO\n+2\n10"])
        #expect(try parse("data\n\ndata\ndata\n\ndata:").events.map(\.data) == ["", "\n"])
        #expect(try parse("data:test\n\ndata: test\n\n").events.map(\.data) == ["test", "test"])
    }

    @Test func `an event block without data dispatches no event, but its id is kept`() throws {
        let (events, parser) = try parse("event: x\nid: 7\n\nevent: y\n\n")

        #expect(events.isEmpty)
        #expect(parser.lastEventID == "7")
    }

    @Test func `the event type applies to one event, and the event ID applies to later events too`() throws {
        let events = try parse("id: a\nevent: x\ndata: 1\n\ndata: 2\n\n").events

        #expect(events == [.init(type: "x", data: "1", lastEventID: "a"), .init(data: "2", lastEventID: "a")])
    }

    @Test func `one byte order mark at the start of an event stream is removed`() throws {
        #expect(try parse("\u{feff}data: 1\n\n", cut: 1).events.map(\.data) == ["1"])
        #expect(try parse("\u{feff}\u{feff}data: 1\n\n").events.isEmpty)
        #expect(try parse("data: 1\n\u{feff}data: 2\n\n").events.map(\.data) == ["1"])
    }

    @Test func `an event ID that contains NUL is ignored`() throws {
        let (events, parser) = try parse("id: 1\n\nid: 2\0\ndata: x\n\n")

        #expect(events.map(\.lastEventID) == ["1"])
        #expect(parser.lastEventID == "1")
    }

    @Test(arguments: [("1000", 1000), ("0", 0), ("12a", nil), ("-1", nil), ("", nil), ("1.5", nil), ("１", nil)])
    func `a reconnection time consists of ASCII digits only`(text: String, milliseconds: Int?) throws {
        let parser = try parse("retry: \(text)\n\n").parser

        #expect(parser.reconnectionTime == milliseconds.map { .milliseconds($0) })
    }

    @Test func `a reconnection time that exceeds every clock does not overflow`() throws {
        let time = try parse("retry: 99999999999999999999999999\n").parser.reconnectionTime

        #expect(try #require(time) > .seconds(86_400))
    }

    @Test func `comments, unknown fields and fields in capitals of an event stream are ignored`() throws {
        let events = try parse(":data: x\n:\nDATA: y\nfoo: bar\n data: z\ndata : w\ndata: 1\n\n").events

        #expect(events.map(\.data) == ["1"])
    }

    @Test func `an incomplete event at the end of an event stream is discarded`() throws {
        #expect(try parse("data: 1\n\ndata: 2\n").events.map(\.data) == ["1"])
        #expect(try parse("id: 5\ndata: 2\n").parser.lastEventID == "")
    }

    @Test func `further colons in a line of an event stream belong to the value`() throws {
        #expect(try parse("data: a:b: c\ndata::\n\n").events.map(\.data) == ["a:b: c\n:"])
    }
}
