import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardStreams

/// The behaviors that LaunchDarkly's contract tests for server-sent events (sse-contract-tests) require of a parser.
@Suite
struct EventContractTests {
    /// A stream and the events that it contains.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let stream: String
        let events: [Event]

        var testDescription: String { name }
    }

    typealias Event = ServerSentEvent

    private static let byteOrderMark = "\u{feff}"

    private static let cases: [Case] = [
        Case(name: "one line", stream: "data: Hello\n\n", events: [Event(data: "Hello")]),
        Case(name: "two events", stream: "data: a\n\ndata: b\n\n", events: [Event(data: "a"), Event(data: "b")]),
        Case(name: "two lines, one without a space", stream: "data: a\ndata:b\n\n", events: [Event(data: "a\nb")]),
        Case(name: "empty data", stream: "data:\n\n", events: [Event(data: "")]),
        Case(name: "type", stream: "event: hi\ndata: a\n\n", events: [Event(type: "hi", data: "a")]),
        Case(name: "ID", stream: "id: abc\ndata: a\n\n", events: [Event(data: "a", lastEventID: "abc")]),
        Case(name: "ID with NUL", stream: "id: a\0bc\ndata: a\n\n", events: [Event(data: "a")]),
        Case(
            name: "type and ID in any order",
            stream: "event: hi\nid: 1\ndata: a\n\ndata: b\nid: 2\nevent: ho\n\n",
            events: [Event(type: "hi", data: "a", lastEventID: "1"), Event(type: "ho", data: "b", lastEventID: "2")]
        ),
        Case(
            name: "ID of an earlier event",
            stream: "id: abc\ndata: a\n\ndata: b\n\nid: \ndata: c\n\n",
            events: [Event(data: "a", lastEventID: "abc"), Event(data: "b", lastEventID: "abc"), Event(data: "c")]
        ),
        Case(
            name: "unknown field",
            stream: "event: hi\ncolor: blue\ndata: a\n\n",
            events: [Event(type: "hi", data: "a")]
        ),
        Case(name: "no space", stream: "event:hi\ndata:a\n\n", events: [Event(type: "hi", data: "a")]),
        Case(name: "two spaces", stream: "event:  hi\ndata:  a\n\n", events: [Event(type: " hi", data: " a")]),
        Case(name: "no colon", stream: "data\n\ndata\ndata\n\n", events: [Event(data: ""), Event(data: "\n")]),
        Case(name: "characters of several bytes", stream: "data: €豆腐\n\n", events: [Event(data: "€豆腐")]),
        Case(
            name: "empty first line of three",
            stream: "data:\ndata: b\ndata: c\n\n",
            events: [Event(data: "\nb\nc")]
        ),
        Case(
            name: "empty line between two of three",
            stream: "data: a\ndata:\ndata: c\n\n",
            events: [Event(data: "a\n\nc")]
        ),
        Case(
            name: "further empty lines",
            stream: "data: a\n\n\n\ndata: b\n\n",
            events: [Event(data: "a"), Event(data: "b")]
        ),
        Case(
            name: "comments",
            stream: ":first\n:second\ndata: a\n:third\ndata: b\n\n:last\n",
            events: [Event(data: "a\nb")]
        ),
        Case(
            name: "byte order mark",
            stream: byteOrderMark + "event: hi\nid: 1\ndata: a\n\ndata: b\n\n",
            events: [Event(type: "hi", data: "a", lastEventID: "1"), Event(data: "b", lastEventID: "1")]
        ),
        Case(
            name: "byte order mark before a comment",
            stream: byteOrderMark + ":comment\ndata: a\n\n",
            events: [Event(data: "a")]
        ),
        Case(
            name: "byte order mark within data",
            stream: "data: a\n\ndata: \(byteOrderMark)b\n\n",
            events: [Event(data: "a"), Event(data: byteOrderMark + "b")]
        ),
        Case(
            name: "many events",
            stream: (0..<100).map { "data: \($0)\n\n" }.joined(),
            events: (0..<100).map { Event(data: "\($0)") }
        ),
    ]

    /// Parses a stream that arrives in these pieces.
    private func events(of pieces: [Data]) throws -> [ServerSentEvent] {
        var (splitter, parser) = (LineSplitter(.any, limit: 2 << 20), EventParser())
        var events: [ServerSentEvent] = []
        for piece in pieces {
            splitter.append(piece)
            while let line = try splitter.next() {
                if let event = parser.take(line) { events.append(event) }
            }
        }
        return events
    }

    @Test(arguments: cases, ["\n", "\r\n", "\r"])
    func `an event stream yields its events, whatever ends its lines and wherever it is split`(
        _ example: Case,
        _ end: String
    ) throws {
        // A CR at the end of the stream could be the first half of a CRLF, so a next line follows.
        let bytes = Data((example.stream.replacing("\n", with: end) + ":").utf8)
        for size in [bytes.count, 1, 2, 3] {
            let pieces = stride(from: 0, to: bytes.count, by: size).map { start in
                Data(bytes[start..<min(start + size, bytes.count)])
            }

            #expect(try events(of: pieces) == example.events)
        }
    }

    @Test func `a CRLF that is split between two chunks of an event stream ends one line`() throws {
        let pieces = ["data: Hello\r", "\ndata: World\r", "\n\r\ndata: OK\r", "\n", "\r", "\n"].map { Data($0.utf8) }

        #expect(try events(of: pieces) == [Event(data: "Hello\nWorld"), Event(data: "OK")])
    }

    @Test(arguments: [1, 1023, 1024, 1025, 4094, 4096, 4098, 8189, 8192, 8195, 16_384, 65_536, 1 << 20])
    func `an event of any size is delivered with its last byte`(_ size: Int) throws {
        let data = String(repeating: "x", count: size)

        #expect(try events(of: [Data("data: \(data)\n\n".utf8)]) == [Event(data: data)])
    }
}
