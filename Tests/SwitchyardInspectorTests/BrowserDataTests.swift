import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardStreams
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

/// The recorded data that `Tests/Browser/inspector.mjs` opens, so that the browser tests show what is really sent.
///
/// With the environment variable `BROWSER_DATA=write`, the test records calls over real connections and writes the
/// file.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BrowserDataTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Browser/recorded.json")

    private static func encoded(_ record: InspectorRecord) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return try encoder.encode(record) + Data("\n".utf8)
    }

    @Test func `the recorded data of the browser tests has the format that the inspector sends`() async throws {
        if ProcessInfo.processInfo.environment["BROWSER_DATA"] == "write" {
            try Self.encoded(try await Self.recording()).write(to: Self.file)
        }

        let data = try Data(contentsOf: Self.file)
        let record = try JSONDecoder().decode(InspectorRecord.self, from: data)

        #expect(try Self.encoded(record) == data)
        #expect(record.feed.calls.contains { $0.attempts.map(\.kind) == [.first, .failover] })
        let next = record.feed.calls.map { $0.attempts.map(\.next) }
        #expect(next.contains(["next server", nil]))
        #expect(next.contains(["must not be sent again"]))
        #expect(record.feed.calls.contains { $0.outcome?.status == 404 })
        #expect(record.details.values.contains { $0.messages?.map(\.type) == ["message", "price"] })
        #expect(record.feed.verdict.headline.hasPrefix("Server primary is out of service"))
    }

    /// Records calls to two servers, the first of which stops.
    private static func recording() async throws -> InspectorRecord {
        let servers = [LoopbackServer(), LoopbackServer()]
        for server in servers {
            server.route(.get, "/topics") { _ in .json(#"{"topics": [{"id": 1, "title": "Points & signals"}]}"#) }
            server.route(.post, "/topics") { _ in .json(#"{"id": 2}"#) }
            server.route(.get, "/old") { _ in LoopbackResponse(status: 302, headers: ["Location": "/topics"]) }
            server.route(.get, "/news") { _ in
                let events = Data("data: {\"token\": \"c2VjcmV0\"}\n\nevent: price\ndata: 7.25\n\n".utf8)
                return LoopbackResponse(headers: ["Content-Type": "text/event-stream"], body: .data(events))
            }
            try server.start()
        }
        let client = try NetworkClient(service: .loopback(servers))
        let options = TrafficInspector.Options.quiet { ($0.recordsFromStart, $0.messageBytes) = (true, 1_024) }
        let inspector = try TrafficInspector(client, options: options)
        let page = try PageClient(inspector)
        for path in ["topics", "missing", "old"] { _ = try await client.send(APIConfiguration(path: path)) }
        _ = try await client.send(APIConfiguration(path: "topics", method: .post, body: .text("title=Signals")))
        for try await _ in try await client.stream(APIConfiguration(path: "news")).bytes.events() {}
        servers[0].fault = .refuse
        for number in 1...20 { _ = try await client.send(APIConfiguration(path: "topics", query: ["page": number])) }
        await until { inspector.desk.book.news(after: 0).outages["primary"] != nil }
        servers[1].fault = .resetBeforeHead
        _ = try? await client.send(APIConfiguration(path: "topics", method: .post, body: .text("title=Signals")))
        await until { inspector.desk.book.news(after: 0).calls.count { $0.end != nil } == 26 }
        let feed = try await page.feed()
        var details: [String: CallDetail] = [:]
        for call in feed.calls { details[call.id] = try await page.detail(of: call.id) }
        for server in servers { server.stop() }
        return InspectorRecord(name: "recorded", feed: feed, details: details)
    }
}
