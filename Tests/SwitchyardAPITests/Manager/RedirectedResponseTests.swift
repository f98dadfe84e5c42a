import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Confirmation of redirected responses: a validator belongs to the URL that sent the response.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RedirectedResponseTests {
    private let clock = ManualClock()
    /// The location of the latest edition.
    private let latest = Locked("first")

    /// A server that redirects to its latest edition, and whose second edition has an older date than its first.
    private func start(keepingIn folder: TemporaryFolder? = nil) throws -> (TopicAPI, StubTransport) {
        let transport = StubTransport { [latest] request in
            let edition = latest.withLock { $0 }
            switch request.url.path {
            case "/v1/latest" where edition != "latest": return .status(302, headers: ["Location": edition])
            case "/v1/first":
                let date = "Tue, 10 Jan 2023 00:00:00 GMT"
                if request.headers["If-Modified-Since"] == date { return .status(304) }
                return .status(200, headers: ["Last-Modified": date], body: Data("one".utf8))
            default:
                if request.headers["If-Modified-Since"] != nil { return .status(304) }
                return .status(200, body: Data("two".utf8))
            }
        }
        let client = try NetworkClient.stubbed(transport, time: clock)
        if let folder {
            client.responseCache = ResponseCache(disk: try DiskCache(at: folder.url), time: clock) { [clock] in
                Date(timeIntervalSince1970: 1_700_000_000) + MonotonicTime.zero.duration(to: clock.now).inSeconds
            }
        }
        return (TopicAPI(client: client), transport)
    }

    private var call: APIConfiguration {
        var configuration = APIConfiguration(path: "latest")
        configuration.cacheLifetime = .seconds(60)
        return configuration
    }

    @Test func `a stored response is revalidated by the redirect target that sent it`() async throws {
        let (topics, _) = try start()
        _ = try await topics.response(for: call, with: .string)
        clock.advance(by: .seconds(61))

        let again = try await topics.response(for: call, with: .string)

        #expect(again.source == .revalidated && again.value == "one")
    }

    @Test(arguments: ["second", "latest"])
    func `if a redirect leads to a new target, the whole response is requested from the new target`(place: String)
        async throws
    {
        let (topics, _) = try start()
        _ = try await topics.response(for: call, with: .string)
        latest.withLock { $0 = place }
        clock.advance(by: .seconds(61))

        let again = try await topics.response(for: call, with: .string)

        #expect(again.source == .network && again.value == "two")
    }

    @Test func `the second request of a call has only the time that remains of the call's timeout`() async throws {
        let transport = StubTransport { [latest, clock] request in
            let (edition, isCondition) = (latest.withLock { $0 }, request.headers["If-Modified-Since"] != nil)
            switch request.url.path {
            case "/v1/latest" where edition != "latest": return .status(302, headers: ["Location": edition])
            case "/v1/first":
                return .status(200, headers: ["Last-Modified": "Tue, 10 Jan 2023 00:00:00 GMT"], body: Data("one".utf8))
            default: return isCondition ? .delayed(by: .seconds(4), on: clock, .status(304)) : .never
            }
        }
        let topics = TopicAPI(client: try NetworkClient.stubbed(transport, time: clock))
        var call = call
        call.timeout = .seconds(5)
        _ = try await topics.response(for: call, with: .string)
        latest.withLock { $0 = "latest" }
        clock.advance(by: .seconds(61))
        let again = Task { [call] in try await topics.response(for: call, with: .string).value }
        #expect(await clock.waitForTimers(1, in: .seconds(4)))
        clock.advance(by: .seconds(4))
        #expect(await transport.waitForRequests(4))
        #expect(await clock.waitForTimers(1))

        clock.advance(by: .seconds(5))

        let error = await #expect(throws: APIError.self) { try await again.value }
        #expect(error?.reason == .limited(.deadline))
        #expect(error?.context.elapsed == .seconds(1))
    }

    @Test(arguments: ["first", "second", "latest"])
    func `a stored response on disk is revalidated only by the URL that sent it`(
        place: String
    ) async throws {
        let folder = TemporaryFolder()
        let (before, _) = try start(keepingIn: folder)
        _ = try await before.response(for: call, with: .string)
        try await #require(before.cache.disk as? DiskCache).flush()
        latest.withLock { $0 = place }
        clock.advance(by: .seconds(61))
        let (topics, _) = try start(keepingIn: folder)

        let again = try await topics.response(for: call, with: .string)

        #expect(again.source == (place == "first" ? .revalidated : .network))
        #expect(again.value == (place == "first" ? "one" : "two"))
    }

    @Test func `an If-Modified-Since that the app sets is also sent to the target of a redirect`() async throws {
        let (topics, transport) = try start()
        var own = call
        own.headers["If-Modified-Since"] = "Tue, 10 Jan 2023 00:00:00 GMT"

        await #expect(throws: APIError(.status(304))) { try await topics.response(for: own, with: .string) }
        #expect(transport.requests.allSatisfy { $0.headers["If-Modified-Since"] != nil })
    }
}
