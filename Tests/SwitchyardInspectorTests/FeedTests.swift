import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct FeedTests {
    @Test func `the first feed of an inspector page describes the client`() async throws {
        let lab = try InspectorLab()

        let feed = try await lab.page.feed()

        #expect(feed.version == 1)
        #expect(feed.calls.isEmpty && feed.events.isEmpty && feed.forgotten == 0)
        #expect(feed.limits == InspectorFeed.Limits(calls: 500, bodyBytes: 65_536))
        #expect(feed.client.service == "topics")
        #expect(feed.client.environment == "test")
        #expect(feed.client.environments == ["release", "test"])
        #expect(feed.client.current == "primary")
        #expect(!feed.client.mayControl)
        #expect(feed.client.servers.map(\.state) == [.inUse, .standby])
        #expect(feed.client.servers.map(\.url) == ["http://primary.test/v1", "http://secondary.test/v1"])
    }

    @Test func `the inspector shows a call with its attempts, phases and response`() async throws {
        let lab = try InspectorLab { request, _ in
            var metrics = TransferMetrics(total: .milliseconds(9))
            (metrics.nameLookup, metrics.connected) = (.milliseconds(1), .milliseconds(3))
            (metrics.secured, metrics.firstByte) = (.milliseconds(5), .milliseconds(8))
            metrics.networkProtocol = "h2"
            metrics.bytesReceived = 2
            return .response(HTTPResponse(status: 200, body: .whole(Data("[]".utf8)), metrics: metrics))
        }
        _ = try await lab.page.feed()

        var configuration = APIConfiguration(path: "topics")
        configuration.tags = ["list", "first"]
        _ = try await lab.client.send(configuration)

        let call = try #require(try await lab.feed(ended: 1).calls.first)
        #expect((call.id, call.number, call.method, call.path) == ("1", 1, "GET", "topics"))
        #expect(call.tags == ["first", "list"])
        #expect(call.outcome == InspectedCall.Outcome(status: 200))
        #expect(call.from == .network)
        #expect(abs(call.start / 1_000 - Date().timeIntervalSince1970) < 300)
        let attempt = try #require(call.attempts.first)
        #expect(attempt.kind == .first && attempt.server == "primary" && attempt.status == 200)
        #expect(attempt.phases.map(\.name) == [.lookup, .connect, .tls, .wait, .receive])
        #expect(attempt.phases.map { ($0.end - $0.start).rounded() } == [1, 2, 2, 3, 1])
        #expect(attempt.version == "HTTP/2" && attempt.received == 2 && attempt.reused == false)
    }

    @Test func `the inspector distinguishes a fresh and a stale response from the cache`() async throws {
        final class Topics: APIManager {
            let client: NetworkClient
            init(_ client: NetworkClient) { self.client = client }
        }
        let lab = try InspectorLab { _, _ in .json("[1]") }
        let topics = Topics(lab.client)
        var configuration = APIConfiguration(path: "topics")
        configuration.cacheLifetime = .seconds(60)
        configuration.cache.staleWhileRevalidate = .seconds(600)
        _ = try await topics.value([Int].self, for: configuration)
        _ = try await lab.page.feed()

        _ = try await topics.value([Int].self, for: configuration)
        lab.clock.advance(by: .seconds(61))
        _ = try await lab.page.feed()
        _ = try await topics.value([Int].self, for: configuration)

        let calls = try await lab.feed(ended: 3).calls
        let recalled = calls.filter { $0.attempts.isEmpty }
        #expect(recalled.map(\.from) == [.cache, .stale])
        #expect(recalled.allSatisfy { $0.outcome == InspectedCall.Outcome(status: 200) && $0.end == $0.start })
        #expect(calls.filter { $0.from == .network }.count == 1)
    }

    @Test func `the inspector distinguishes a failover attempt from the first attempt`() async throws {
        let lab = try InspectorLab { request, _ in
            request.server == "primary" ? .failure(.connectionRefused) : .json("[]")
        }
        _ = try await lab.page.feed()

        _ = try await lab.client.send(APIConfiguration(path: "topics"))

        let attempts = try #require(try await lab.feed(ended: 1).calls.first?.attempts)
        #expect(attempts.map(\.kind) == [.first, .failover])
        #expect(attempts.map(\.error) == ["connectionRefused", nil])
        #expect(attempts.map(\.status) == [nil, 200])
        #expect(attempts.map(\.server) == ["primary", "secondary"])
    }

    @Test func `the inspector shows the hedge of a slow attempt and marks the slow attempt as cancelled`()
        async throws
    {
        let lab = try InspectorLab { request, _ in request.server == "primary" ? .never : .json("[]") }
        _ = try await lab.page.feed()

        let answer = Task { try await lab.client.send(APIConfiguration(path: "topics", timeout: .seconds(2))) }
        #expect(await lab.stub.waitForRequests(1))
        #expect(await lab.clock.waitForTimers(1, in: .milliseconds(250)))
        lab.clock.advance(by: .milliseconds(250))
        #expect(try await answer.value.status == 200)

        let attempts = try #require(try await lab.feed(ended: 1).calls.first?.attempts)
        #expect(attempts.map(\.kind) == [.first, .hedge])
        #expect(attempts.map(\.isCut) == [true, nil])
        #expect(attempts[0].end == nil)
        #expect((attempts[1].start - attempts[0].start).rounded() == 250)
    }

    @Test func `the inspector shows a retry with the wait before the retry and the reason for the wait`() async throws {
        let policy = RetryPolicy(maximumRetries: 1, backoff: .constant(.seconds(1)))
        let lab = try InspectorLab(servers: 1, retry: policy) { _, clock in
            clock.now < MonotonicTime(seconds: 0.5) ? .status(503) : .json("[]")
        }
        _ = try await lab.page.feed()

        let answer = Task { try await lab.client.send(APIConfiguration(path: "topics")) }
        await until { lab.inspector.desk.book.news(after: 0).calls.first?.waits.isEmpty == false }
        lab.clock.advance(by: .seconds(2))
        #expect(try await answer.value.status == 200)

        let call = try #require(try await lab.feed(ended: 1).calls.first)
        #expect(call.attempts.map(\.kind) == [.first, .retry])
        #expect(call.rounds == 2)
        #expect(call.waits.map(\.why) == ["retry after status 503"])
    }

    @Test func `the inspector shows the reason of a failed call and whether a write may have been executed`()
        async throws
    {
        let lab = try InspectorLab(servers: 1) { _, _ in .failure(.connectionReset) }
        _ = try await lab.page.feed()

        _ = await lab.client.failure(of: APIConfiguration(path: "topics", method: .post))

        let call = try #require(try await lab.feed(ended: 1).calls.first)
        #expect(call.outcome?.error == "connectionReset")
        #expect(call.outcome?.words?.contains("connectionReset") == true)
        #expect(call.mayHaveBeenExecuted == true)
        #expect(call.from == nil)
    }

    @Test func `the inspector shows redirects over real connections within their attempt`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/old") { _ in LoopbackResponse(status: 302, headers: ["Location": "/new"]) }
        server.route(.get, "/new") { _ in .json("{}") }
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: .loopback([server]))
        let inspector = try TrafficInspector(client, options: .quiet())
        let page = try PageClient(inspector)
        _ = try await page.feed()

        _ = try await client.send(APIConfiguration(path: "old"))
        await until { inspector.desk.book.news(after: 0).calls.first?.end != nil }

        let attempt = try #require(try await page.feed().calls.first?.attempts.first)
        #expect(attempt.redirects.map(\.status) == [302])
        #expect(attempt.redirects.map(\.from) == ["\(server.baseURL)/old"])
        #expect(attempt.url == "\(server.baseURL)/new")
        #expect(attempt.status == 200)
        let detail = try await page.detail(of: "1")
        #expect(detail.attempts.map(\.request.line) == ["GET \(server.baseURL)/old"])
        #expect(detail.attempts.map(\.response?.line) == ["HTTP/1.1 200"])
        let archive = try HARArchive(data: try #require(try await page.ask("calls/1.har").data))
        #expect(archive.entries.map(\.response.status) == [302, 200])
    }

    @Test func `an inspector feed waits for changes and contains only the changes since the previous feed`()
        async throws
    {
        let lab = try InspectorLab()
        _ = try await lab.page.feed()
        _ = try await lab.client.send(APIConfiguration(path: "one"))
        let first = try await lab.feed(ended: 1)

        async let second = lab.page.feed(after: first.cursor)
        await until { lab.inspector.desk.waitingPages == 1 }
        _ = try await lab.client.send(APIConfiguration(path: "two"))

        #expect(try await second.calls.map(\.path) == ["two"])
        #expect(try await lab.feed(ended: 2).calls.map(\.path) == ["one", "two"])
    }

    @Test func `an inspector feed without changes responds after 20 seconds`() async throws {
        let lab = try InspectorLab()
        let first = try await lab.page.feed()

        async let second = lab.page.feed(after: first.cursor)
        await lab.clock.waitForTimers(1, in: .seconds(20))
        lab.clock.advance(by: .seconds(20))

        #expect(try await second.calls.isEmpty)
        #expect(try await second.cursor == first.cursor)
    }

    @Test func `the inspector shows server and environment switches as events`() async throws {
        let lab = try InspectorLab()
        _ = try await lab.page.feed()

        try lab.client.switchServer(to: "secondary")
        try lab.client.switchEnvironment(to: .release)
        await until { lab.inspector.desk.book.news(after: 0).events.count == 2 }

        let feed = try await lab.page.feed()
        #expect(feed.events.map(\.kind) == [.switch, .environment])
        #expect(feed.events.map(\.server) == ["secondary", nil])
        #expect(feed.events.map(\.number) == [1, 2])
        #expect(feed.client.environment == "release")
    }
}
