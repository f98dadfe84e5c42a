import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The stale windows of a policy together with HTTP caching rules (RFC 9111 section 4.2.4).
@Suite(.timeLimit(.minutes(5)), .prompt) struct StaleWindowTests {
    private let clock = ManualClock()
    private let fails = Locked(false)

    /// An API whose response has these header fields until the server fails.
    private func start(_ headers: HTTPHeaders) throws -> (topics: TopicAPI, transport: StubTransport) {
        let transport = StubTransport { [fails] _ in
            fails.withLock { $0 } ? .status(503) : .status(200, headers: headers, body: Data("1".utf8))
        }
        return (TopicAPI(client: try .stubbed(transport, time: clock)), transport)
    }

    private func call(_ change: (inout CachePolicy) -> Void = { _ in }) -> APIConfiguration {
        var call = TopicAPI.topic(1, lifetime: .seconds(60))
        call.cache.freshness = .http
        change(&call.cache)
        return call
    }

    private static let forbidding: [HTTPHeaders] = [
        ["ETag": "\"1\"", "Cache-Control": "max-age=10, must-revalidate"],
        ["ETag": "\"1\"", "Cache-Control": "max-age=10, no-cache"],
        ["ETag": "\"1\"", "Cache-Control": "max-age=10", "Vary": "*"],
    ]

    @Test(arguments: forbidding)
    func `no stale response is returned if its header fields forbid it`(headers: HTTPHeaders) async throws {
        let (topics, transport) = try start(headers)
        let call = call {
            $0.staleWhileRevalidate = .seconds(600)
            $0.staleIfError = .seconds(600)
        }
        _ = try await topics.response(for: call, with: .string)
        clock.advance(by: .seconds(20))

        #expect(try await topics.response(for: call, with: .string).source == .network)
        #expect(transport.requestCount == 2)
        clock.advance(by: .seconds(20))
        fails.withLock { $0 = true }
        await #expect(throws: APIError(.status(503))) { try await topics.response(for: call, with: .string) }
    }

    @Test func `a stored response with no-cache is not returned to a call that only reads the cache`() async throws {
        let (topics, _) = try start(["ETag": "\"1\"", "Cache-Control": "max-age=10, no-cache"])
        _ = try await topics.response(for: call(), with: .string)

        let only = call { $0.reading = .only }
        await #expect(throws: APIError(.cache(.expired))) { try await topics.response(for: only, with: .string) }
    }

    @Test(arguments: ["no-cache", "max-age=0", "min-fresh=600"])
    func `a call that demands freshness requests a new response`(demand: String) async throws {
        let (topics, transport) = try start(["ETag": "\"1\"", "Cache-Control": "max-age=100"])
        var demanding = call { $0.staleWhileRevalidate = .seconds(600) }
        _ = try await topics.response(for: demanding, with: .string)
        clock.advance(by: .seconds(1))
        demanding.headers["Cache-Control"] = demand

        #expect(try await topics.response(for: demanding, with: .string).source == .network)
        #expect(transport.requestCount == 2)
    }

    @Test func `if no header field forbids stale use, staleWhileRevalidate and staleIfError of the call apply`()
        async throws
    {
        let (topics, transport) = try start(["Cache-Control": "max-age=10"])
        let call = call {
            $0.staleWhileRevalidate = .seconds(100)
            $0.staleIfError = .seconds(600)
        }
        _ = try await topics.response(for: call, with: .string)
        fails.withLock { $0 = true }

        clock.advance(by: .seconds(50))
        #expect(try await topics.response(for: call, with: .string).source == .staleCache(age: .seconds(50)))
        await transport.waitForRequests(2)
        await transport.waitUntilIdle()
        clock.advance(by: .seconds(100))
        #expect(try await topics.response(for: call, with: .string).source == .staleCache(age: .seconds(150)))
    }
}
