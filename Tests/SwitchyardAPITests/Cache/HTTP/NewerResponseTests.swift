import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The effect of a newer response on the stored response under HTTP caching rules (RFC 9111).
@Suite(.timeLimit(.minutes(5)), .prompt) struct NewerResponseTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private let clock = ManualClock()

    /// A manager of a server with these responses, whose wall clock follows the monotonic clock.
    private func topics(_ answers: [StubResponse], _ module: APIModule = .standard) throws -> TopicAPI {
        let client = try NetworkClient.stubbed(StubTransport(answers: answers), time: clock)
        client.responseCache = ResponseCache(time: clock) { [clock] in
            Self.start + MonotonicTime.zero.duration(to: clock.now).inSeconds
        }
        return TopicAPI(client: client, module: module)
    }

    private func answer(_ text: String, _ headers: HTTPHeaders) -> StubResponse {
        .status(200, headers: headers, body: Data(text.utf8))
    }

    private func call(_ reading: CachePolicy.Reading = .whenFresh) -> APIConfiguration {
        var configuration = APIConfiguration(path: "topics")
        configuration.cacheLifetime = .seconds(60)
        configuration.cache.freshness = .http
        configuration.cache.reading = reading
        configuration.retry = .never
        return configuration
    }

    @Test(
        arguments: [
            ["Date": HTTPDate.text(for: start) ?? ""], ["Age": "50"],
        ] as [HTTPHeaders]
    )
    func `a 304 response without a Date field counts as sent at the current time`(old: HTTPHeaders) async throws {
        var headers = old
        headers.add("ETag", "\"v1\"")
        headers.add("Cache-Control", "max-age=60")
        let topics = try topics([answer("one", headers), .status(304)])
        _ = try await topics.response(for: call(), with: .string)
        clock.advance(by: .seconds(100))
        #expect(try await topics.response(for: call(), with: .string).source == .revalidated)
        clock.advance(by: .seconds(50))

        let again = try await topics.response(for: call(), with: .string)

        #expect(again.isFromCache && again.headers["Age"] == "50")
    }

    @Test func `a newer response that must not be stored removes the stored response`() async throws {
        let topics = try topics([
            answer("one", ["Cache-Control": "max-age=3600"]), answer("two", ["Cache-Control": "no-store"]),
            answer("three", [:]),
        ])
        _ = try await topics.response(for: call(), with: .string)
        _ = try await topics.response(for: call(.never), with: .string)

        #expect(try await topics.response(for: call(), with: .string).value == "three")
    }

    @Test(arguments: [404, 410]) func `a 404 or 410 response removes the stored response`(
        status: Int
    ) async throws {
        let old = answer("one", ["Cache-Control": "max-age=3600"])
        let topics = try topics([old, .status(status), answer("three", [:])])
        _ = try await topics.response(for: call(), with: .string)
        await #expect(throws: APIError(.status(status))) {
            try await topics.response(for: call(.never), with: .string)
        }

        #expect(try await topics.response(for: call(), with: .string).value == "three")
    }

    @Test func `a 404 response removes the stored response even if the module's formatError changes the error`()
        async throws
    {
        let old = answer("one", ["Cache-Control": "max-age=3600"])
        var module = APIModule()
        module.formatError = { APIError($0.reason, serverMessage: "formatted") }
        let topics = try topics([old, .status(404), answer("three", [:])], module)
        _ = try await topics.response(for: call(), with: .string)
        _ = try? await topics.response(for: call(.never), with: .string)

        #expect(try await topics.response(for: call(), with: .string).value == "three")
    }

    @Test func `a 503 response does not remove the stored response`() async throws {
        let topics = try topics([answer("one", ["Cache-Control": "max-age=3600"]), .status(503)])
        _ = try await topics.response(for: call(), with: .string)
        _ = try? await topics.response(for: call(.never), with: .string)

        #expect(try await topics.response(for: call(), with: .string).value == "one")
    }

    @Test func `a failed refresh of a stale response is an error unless the response permits stale use`() async throws {
        let topics = try topics([answer("one", ["Cache-Control": "max-age=3600"]), .status(503)])
        _ = try await topics.response(for: call(), with: .string)

        await #expect(throws: APIError(.status(503))) {
            try await topics.response(for: call(.never), with: .string)
        }
    }

    /// A manager after two crossed requests.
    ///
    /// The first request returns "old" after the second, which decodes another type, has returned `newer`. A third
    /// request returns "newest".
    private func crossed(by newer: StubResponse, _ cache: ResponseCache) async throws -> TopicAPI {
        let count = Locked(0)
        let transport = StubTransport { [clock] _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number < 3 else { return answer("newest", [:]) }
            return number == 1 ? .delayed(by: .seconds(1), on: clock, answer("old", Self.fresh)) : newer
        }
        let client = try NetworkClient.stubbed(transport, time: clock)
        client.responseCache = cache
        let topics = TopicAPI(client: client)
        let old = Task { try await topics.response(for: call(), with: .string).value }
        await transport.waitForRequests(1)
        _ = try? await topics.response(for: call(), with: .data)
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(try await old.value == "old")
        return topics
    }

    private static let fresh: HTTPHeaders = ["Cache-Control": "max-age=3600"]

    @Test func `a late response is not written to disk if the response to a later request was stored`() async throws {
        let folder = TemporaryFolder()
        let disk = try DiskCache(at: folder.url)
        let cache = ResponseCache(limits: .init(cost: 0), disk: disk, time: clock)

        let topics = try await crossed(by: answer("new", Self.fresh), cache)

        await disk.flush()
        #expect(try await topics.response(for: call(), with: .string).value == "new")
    }

    @Test(arguments: [404, 200])
    func `a late response is not stored if a newer response has removed the entry`(status: Int) async throws {
        let newer = StubResponse.status(status, headers: ["Cache-Control": "no-store"])

        let topics = try await crossed(by: newer, ResponseCache(time: clock))

        #expect(try await topics.response(for: call(), with: .string).value == "newest")
    }
}
