import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardStreams
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct StreamTests {
    /// A server that sends a text as an event stream, and a client with an inspector.
    private struct Lab {
        let server = LoopbackServer()
        let client: NetworkClient
        let inspector: TrafficInspector
        let page: PageClient

        init(_ text: String, _ change: (inout TrafficInspector.Options) -> Void = { _ in }) throws {
            server.route(.get, "/news") { _ in
                LoopbackResponse(headers: ["Content-Type": "text/event-stream"], body: .data(Data(text.utf8)))
            }
            try server.start()
            client = try NetworkClient(service: .loopback([server]))
            inspector = try TrafficInspector(
                client,
                options: .quiet {
                    $0.recordsFromStart = true
                    change(&$0)
                }
            )
            page = try PageClient(inspector)
        }

        /// Reads all events of one connection, and returns the call after its stream has ended.
        func read() async throws -> (call: InspectedCall, messages: [InspectedMessage]) {
            for try await _ in try await client.stream(APIConfiguration(path: "news")).bytes.events() {}
            await until { inspector.desk.latest().calls.first?.stream?.end != nil }
            let detail = try await page.detail(of: "1")
            return (detail.call, try #require(detail.messages))
        }
    }

    @Test func `the inspector shows time, type and size of each event of a stream, but not its text`() async throws {
        let lab = try Lab("data: hello\n\nevent: price\ndata: {\"eur\": 7}\n\n")

        let (call, messages) = try await lab.read()

        #expect(messages.map(\.type) == ["message", "price"])
        #expect(messages.map(\.size) == [5, 10])
        #expect(messages.allSatisfy { $0.direction == .received && $0.time >= call.start && $0.text == nil })
        let stream = try #require(call.stream)
        #expect(stream.received == 2 && stream.sent == 0 && stream.bytes == 15)
        #expect(try #require(stream.end) >= call.start)
    }

    @Test func `the inspector shows stream texts up to the requested length, with credentials hidden`() async throws {
        let lab = try Lab("data: {\"access_token\": \"c2VjcmV0\"}\n\ndata: a long text\n\n") { $0.messageBytes = 25 }

        let messages = try await lab.read().messages

        #expect(messages.map(\.text) == [#"{"access_token": "***"}"#, "a long text"])
        let body = try #require(try await lab.page.ask("calls/1").data)
        #expect(!String(decoding: body, as: UTF8.self).contains("c2V"))
    }

    @Test func `the inspector truncates a long event type`() async throws {
        let lab = try Lab("event: \(String(repeating: "t", count: 300))\ndata: hello\n\n")

        let messages = try await lab.read().messages

        #expect(messages.map(\.type) == [String(repeating: "t", count: 100)])
    }

    @Test func `the inspector truncates a long event type even if the type is a single character`() async throws {
        let lab = try Lab("event: t\(String(repeating: "\u{301}", count: 30_000))\ndata: hello\n\n")

        let messages = try await lab.read().messages

        #expect(messages.map(\.type.unicodeScalars.count) == [100])
    }

    @Test func `in the inspector, a call without a stream has no messages`() async throws {
        let lab = try Lab("data: hello\n\n")

        _ = try await lab.client.send(APIConfiguration(path: "news"))
        await until { lab.inspector.desk.latest().calls.first?.end != nil }

        #expect(try await lab.page.feed().calls.first?.stream == nil)
        #expect(try await lab.page.detail(of: "1").messages == nil)
    }

    @Test func `each connection of an event source is a call with its own messages`() async throws {
        let lab = try Lab("data: one\n\n")
        var options = EventSource.Options()
        options.reconnectionTime = .milliseconds(1)

        var count = 0
        for try await _ in lab.client.eventSource(APIConfiguration(path: "news"), options: options) {
            count += 1
            if count == 3 { break }
        }
        await until { lab.inspector.desk.latest().calls.count { $0.stream?.end != nil } == 3 }

        let streams = try await lab.page.feed().calls.map(\.stream)
        #expect(streams.map { $0?.received } == [1, 1, 1])
    }

    @Test func `after the page was closed, the messages of an open stream are not recorded`() async throws {
        let lab = try Lab("data: one\n\ndata: two\n\n")
        var events = try await lab.client.stream(APIConfiguration(path: "news")).bytes.events().makeAsyncIterator()
        _ = try await events.next()
        await until { lab.inspector.desk.latest().calls.first?.stream?.received == 1 }

        lab.inspector.stop()
        while try await events.next() != nil {}
        await until { lab.inspector.desk.latest().calls.first?.stream?.end != nil }

        #expect(lab.inspector.desk.latest().calls.first?.stream?.received == 1)
    }

    @Test func `the inspector ignores a stream whose call was dropped`() async throws {
        let lab = try Lab("data: one\n\ndata: two\n\n") { $0.calls = 1 }
        var events = try await lab.client.stream(APIConfiguration(path: "news")).bytes.events().makeAsyncIterator()
        _ = try await events.next()
        await until { lab.inspector.desk.latest().calls.first?.stream?.received == 1 }
        for _ in 1...3 { _ = try await lab.client.send(APIConfiguration(path: "news")) }
        await until { lab.inspector.desk.latest().forgotten == 3 }

        while try await events.next() != nil {}
        _ = try await lab.client.send(APIConfiguration(path: "news"))
        await until { lab.inspector.desk.latest().forgotten == 4 }

        #expect(lab.inspector.desk.latest().calls.map(\.number) == [5])
    }
}
