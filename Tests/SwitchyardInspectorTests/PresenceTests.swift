import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct PresenceTests {
    @Test func `the inspector does not observe the client until a page has requested the feed`() async throws {
        let lab = try InspectorLab()

        _ = try await lab.page.ask("")
        #expect(lab.client.clientObserverCount == 0)
        _ = try await lab.client.send(APIConfiguration(path: "unseen"))
        _ = try await lab.page.feed()
        #expect(lab.client.clientObserverCount == 1)
        _ = try await lab.client.send(APIConfiguration(path: "seen"))

        #expect(try await lab.feed(ended: 1).calls.map(\.path) == ["seen"])
    }

    @Test func `the inspector stops observing 30 s after the last feed request, and keeps the recorded calls`()
        async throws
    {
        let lab = try InspectorLab()
        _ = try await lab.page.feed()
        _ = try await lab.client.send(APIConfiguration(path: "seen"))
        _ = try await lab.feed(ended: 1)
        await lab.clock.waitForTimers(1, in: .seconds(30))

        lab.clock.advance(by: .seconds(29))
        #expect(lab.client.clientObserverCount == 1)
        lab.clock.advance(by: .seconds(1))
        #expect(lab.client.clientObserverCount == 0)
        _ = try await lab.client.send(APIConfiguration(path: "unseen"))

        #expect(try await lab.page.feed().calls.map(\.path) == ["seen"])
        #expect(lab.client.clientObserverCount == 1)
    }

    @Test func `a page that waits for changes keeps the inspector observing`() async throws {
        let lab = try InspectorLab()
        let cursor = try await lab.page.feed().cursor

        let feed = Task { try await lab.page.feed(after: cursor) }
        await until { lab.inspector.desk.waitingPages == 1 }
        lab.clock.advance(by: .seconds(19))
        #expect(lab.client.clientObserverCount == 1)
        lab.clock.advance(by: .seconds(1))
        _ = try await feed.value
    }

    @Test func `a hundred inspector pages that open and close leave no observer and no timer`() async throws {
        let lab = try InspectorLab()
        let cursor = try await lab.page.feed().cursor

        let pages = (0..<100).map { _ in Task { try await lab.page.feed(after: cursor) } }
        await until { lab.inspector.desk.waitingPages == 100 }
        for page in pages { page.cancel() }
        for page in pages { _ = await page.result }
        await until { lab.inspector.desk.waitingPages == 0 }
        await lab.clock.waitForTimers(1, in: .seconds(30))
        lab.clock.advance(by: .seconds(30))

        #expect(lab.client.clientObserverCount == 0)
        #expect(!lab.inspector.desk.isWatched)
        #expect(lab.clock.pendingTimers == 0)
    }

    @Test func `stopping the inspector ends the observation and the waiting pages`() async throws {
        let lab = try InspectorLab()
        let cursor = try await lab.page.feed().cursor
        let feed = Task { try await lab.page.feed(after: cursor) }
        await until { lab.inspector.desk.waitingPages == 1 }

        lab.inspector.stop()
        lab.inspector.stop()

        _ = await feed.result
        #expect(lab.client.clientObserverCount == 0)
        await until { lab.inspector.desk.waitingPages == 0 }
        await #expect(throws: TransportError.self) { try await lab.page.ask("") }
        #expect(try await lab.client.send(APIConfiguration(path: "topics")).status == 200)
    }

    @Test func `a released inspector releases its client`() async throws {
        weak var core: ClientCore?
        do {
            let lab = try InspectorLab()
            core = lab.client.core
            _ = try await lab.page.feed()
            #expect(core != nil)
        }
        await until { core == nil }
        #expect(core == nil)
    }

    @Test func `starting an inspector on a port in use throws a typed error`() throws {
        let lab = try InspectorLab()
        let port = UInt16(try #require(RequestURL(lab.inspector.address)?.foundationURL?.port))

        #expect(throws: InspectorError.portInUse(port)) {
            try InspectorLab(inspector: .quiet { $0.port = port })
        }
    }
}

@Suite(.timeLimit(.minutes(5)), .prompt) struct MemoryTests {
    @Test func `the inspector keeps the newest calls and counts the dropped calls`() async throws {
        let lab = try InspectorLab(inspector: .quiet { $0.calls = 3 })
        _ = try await lab.page.feed()

        for number in 1...8 { _ = try await lab.client.send(APIConfiguration(path: "topics/\(number)")) }
        await until { lab.inspector.desk.book.news(after: 0).calls.last?.end != nil }
        await until { lab.inspector.desk.book.news(after: 0).calls.last?.number == 8 }

        let feed = try await lab.page.feed()
        #expect(feed.calls.map(\.number) == [6, 7, 8])
        #expect(feed.forgotten == 5)
        #expect(try await lab.page.ask("calls/5").status == 404)
        #expect(try await lab.page.ask("calls/6").status == 200)
    }

    @Test func `the inspector keeps bodies up to the configured size`() async throws {
        let body = Data(repeating: UInt8(ascii: "x"), count: 200_000)
        let lab = try InspectorLab(inspector: .quiet { $0.bodyBytes = 1_000 }) { _, _ in
            .status(200, headers: ["Content-Type": "text/plain"], body: body)
        }
        _ = try await lab.page.feed()

        var call = APIConfiguration(path: "topics", method: .post)
        call.body = .data(body, contentType: "application/octet-stream")
        _ = try await lab.client.send(call)
        _ = try await lab.feed(ended: 1)

        let attempt = try #require(try await lab.page.detail(of: "1").attempts.first)
        #expect(attempt.request.body.bytes == 200_000 && attempt.request.body.isCut == true)
        #expect(attempt.request.body.text?.count == 1_000)
        #expect(attempt.response?.body.bytes == 200_000 && attempt.response?.body.isCut == true)
        #expect(attempt.response?.body.text?.count == 1_000)
        #expect(attempt.curl == nil)
    }

    @Test func `in the inspector, all attempts of a call share the space for one body in each direction`() async throws
    {
        let lab = try InspectorLab(servers: 3, switching: .off, inspector: .quiet { $0.bodyBytes = 900 }) {
            request,
            _ in
            .status(request.server == "tertiary" ? 200 : 503, body: Data(repeating: UInt8(ascii: "x"), count: 800))
        }
        _ = try await lab.page.feed()

        var configuration = APIConfiguration(path: "topics")
        configuration.retry = RetryPolicy(maximumRetries: 3, backoff: .constant(.zero))
        _ = try await lab.client.send(configuration)
        _ = try await lab.feed(ended: 1)

        let record = try #require(lab.inspector.desk.book.record(1))
        let kept = record.exchanges.flatMap { $0 }.map(\.responseBytes)
        #expect(kept.reduce(0, +) <= 1_204)
        #expect(kept.last == 800)
    }
}
