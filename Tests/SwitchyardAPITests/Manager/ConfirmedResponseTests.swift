import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Conditional requests and HTTP freshness rules.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ConfirmedResponseTests {
    private let clock = ManualClock()
    private let serializer = ResponseSerializer.decodable(Topic.self)

    /// A server whose response has an entity tag, and that confirms it.
    private func tagged(_ headers: HTTPHeaders = ["ETag": "\"v1\""]) throws -> (NetworkClient, StubTransport) {
        let transport = StubTransport { request in
            if request.headers["If-None-Match"] == "\"v1\"" { return .status(304, headers: ["X-New": "1"]) }
            var all = headers
            all.add("Content-Type", "application/json")
            return .status(200, headers: all, body: Data(#"{"id":1,"title":"one"}"#.utf8))
        }
        return (try .stubbed(transport, time: clock), transport)
    }

    private func configuration(_ lifetime: Duration = .seconds(60)) -> APIConfiguration {
        TopicAPI.topic(1, lifetime: lifetime)
    }

    @Test func `a stale response is fresh again after a 304`() async throws {
        let (client, transport) = try tagged()
        let topics = TopicAPI(client: client)
        _ = try await topics.response(for: configuration(), with: serializer)
        clock.advance(by: .seconds(100))

        let confirmed = try await topics.response(for: configuration(), with: serializer)
        #expect(confirmed.source == .revalidated && !confirmed.isFromCache)
        #expect(confirmed.value.title == "one" && confirmed.status == 200)
        #expect(confirmed.headers["X-New"] == "1" && confirmed.headers["ETag"] == "\"v1\"")
        #expect(transport.requests.map { $0.headers["If-None-Match"] } == [nil, "\"v1\""])
        clock.advance(by: .seconds(59))
        #expect(try await topics.response(for: configuration(), with: serializer).isFromCache)
        #expect(transport.requestCount == 2)
    }

    @Test func `a call that never reads the cache still sends a conditional request`() async throws {
        let (client, _) = try tagged()
        let topics = TopicAPI(client: client)
        _ = try await topics.topic(1, lifetime: .seconds(60))
        var refresh = configuration()
        refresh.cache.reading = .never

        #expect(try await topics.response(for: refresh, with: serializer).source == .revalidated)
    }

    @Test
    func `a call with removesTags that gets a 304 removes the tagged responses but keeps its own response`()
        async throws
    {
        let (client, _) = try tagged()
        let topics = TopicAPI(client: client)
        var other = TopicAPI.topic(2, lifetime: .seconds(600))
        other.cache.tags = ["topics"]
        var call = configuration()
        call.cache.removesTags = ["topics"]
        _ = try await topics.response(for: call, with: serializer)
        _ = try await topics.response(for: other, with: serializer)
        clock.advance(by: .seconds(100))

        #expect(try await topics.response(for: call, with: serializer).source == .revalidated)

        #expect(try await topics.response(for: call, with: serializer).isFromCache)
        #expect(try await !topics.response(for: other, with: serializer).isFromCache)
    }

    @Test(arguments: [CachePolicy.Freshness.lifetime, .http])
    func `a stale response is returned and revalidated in the background`(_ freshness: CachePolicy.Freshness)
        async throws
    {
        let fields: HTTPHeaders = ["ETag": "\"v1\"", "Cache-Control": "max-age=60, stale-while-revalidate=600"]
        let (client, transport) = try tagged(fields)
        let topics = TopicAPI(client: client)
        var call = configuration()
        call.cache.freshness = freshness
        call.cache.staleWhileRevalidate = .seconds(600)
        _ = try await topics.value(Topic.self, for: call)
        clock.advance(by: .seconds(100))

        #expect(try await topics.response(Topic.self, for: call).source == .staleCache(age: .seconds(100)))

        await transport.waitForRequests(2)
        await transport.waitUntilIdle()
        #expect(transport.requests.map { $0.headers["If-None-Match"] } == [nil, "\"v1\""])
    }

    // RFC 9111 section 4.3.4: otherwise the stored content would get the new tag and would be confirmed by it forever.
    @Test(arguments: [CachePolicy.Freshness.lifetime, .http], [["ETag": "\"v1\""], [:]] as [HTTPHeaders])
    func `after a 304 response with another entity tag, the request is repeated without conditional fields`(
        _ freshness: CachePolicy.Freshness,
        _ tag: HTTPHeaders
    ) async throws {
        let transport = StubTransport { request in
            if request.headers["If-Modified-Since"] != nil { return .status(304, headers: ["ETag": "\"v2\""]) }
            let isFirst = request.headers["X-First"] != nil
            var headers: HTTPHeaders = isFirst ? tag : ["ETag": "\"v2\""]
            headers.add("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
            headers.add("Cache-Control", "max-age=60")
            return .status(200, headers: headers, body: Data((isFirst ? "one" : "two").utf8))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        var call = configuration()
        call.cache.freshness = freshness
        call.cache.ignoredHeaders.insert("x-first")
        var first = call
        first.headers.add("X-First", "1")
        _ = try await topics.response(for: first, with: .string)
        clock.advance(by: .seconds(100))

        let second = try await topics.response(for: call, with: .string)

        #expect(second.value == "two" && second.source == .network)
        #expect(try await topics.response(for: call, with: .string).isFromCache)
        #expect(transport.requests.map { $0.headers["If-Modified-Since"] != nil } == [false, true, false])
    }

    @Test(arguments: ["\"v1\"", "W/\"v1\""])
    func `a 304 with the same entity tag revalidates the stored response, whether the tag is weak or strong`(
        tag: String
    ) async throws {
        let transport = StubTransport { request in
            request.headers["If-None-Match"] == nil
                ? .status(200, headers: ["ETag": "\"v1\""], body: Data("one".utf8))
                : .status(304, headers: ["ETag": tag])
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        _ = try await topics.response(for: configuration(), with: .string)
        clock.advance(by: .seconds(100))

        #expect(try await topics.response(for: configuration(), with: .string).source == .revalidated)
    }

    @Test func `a stale response is not returned if the call may use only the cache`() async throws {
        let (client, _) = try tagged()
        let topics = TopicAPI(client: client)
        _ = try await topics.topic(1, lifetime: .seconds(60))
        clock.advance(by: .seconds(61))
        var only = configuration()
        only.cache.reading = .only

        await #expect(throws: APIError(.cache(.expired))) { try await topics.value(Topic.self, for: only) }
    }

    @Test func `no If-None-Match is sent if keepsForConfirmation is zero or has passed`()
        async throws
    {
        let (client, transport) = try tagged()
        let topics = TopicAPI(client: client)
        var never = configuration()
        never.cache.keepsForConfirmation = .zero
        _ = try await topics.response(for: never, with: serializer)
        clock.advance(by: .seconds(61))
        #expect(try await topics.response(for: never, with: serializer).source == .network)
        #expect(transport.requests.allSatisfy { $0.headers["If-None-Match"] == nil })

        _ = try await topics.response(for: configuration(), with: serializer)
        clock.advance(by: .seconds(86_461))
        #expect(try await topics.response(for: configuration(), with: serializer).source == .network)
    }

    @Test func `a cached POST is sent without If-None-Match, which would make it fail`() async throws {
        let transport = StubTransport { request in
            if request.headers["If-None-Match"] != nil { return .status(412) }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": "\"v1\""]
            return .status(200, headers: headers, body: Data(#"{"id":1,"title":"one"}"#.utf8))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        var search = configuration()
        search.method = .post
        search.cache.allowsUnsafeMethods = true
        _ = try await topics.value(Topic.self, for: search)
        clock.advance(by: .seconds(61))

        #expect(try await topics.response(Topic.self, for: search).source == .network)
    }

    @Test func `if the app sets If-None-Match, the app receives the 304 response`() async throws {
        let (client, _) = try tagged()
        let topics = TopicAPI(client: client)
        var own = configuration()
        own.headers["If-None-Match"] = "\"v1\""

        await #expect(throws: APIError(.status(304))) { try await topics.response(for: own, with: serializer) }
    }

    @Test(arguments: ["If-None-Match", "If-Modified-Since"])
    func `if the app sets If-None-Match or If-Modified-Since, the cache adds no conditional header field`(name: String)
        async throws
    {
        let (client, transport) = try tagged()
        let topics = TopicAPI(client: client)
        var own = configuration()
        own.headers[name] = name == "If-None-Match" ? "\"v0\"" : "Tue, 10 Jan 2023 00:00:00 GMT"

        for _ in 0..<2 {
            #expect(try await topics.response(for: own, with: serializer).status == 200)
            clock.advance(by: .seconds(61))
        }

        let conditions: Set<String> = ["If-None-Match", "If-Modified-Since"]
        #expect(transport.requests.map { $0.headers.count { conditions.contains($0.name) } } == [1, 1])
    }

    @Test func `a call that sets If-None-Match shares no request with a call that does not`() async throws {
        let transport = StubTransport { [clock] request in
            let isKnown = request.headers["If-None-Match"] != nil
            return .delayed(by: .seconds(1), on: clock, isKnown ? .status(304) : .json(#"{"id":1,"title":"one"}"#))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        var own = configuration()
        own.headers["If-None-Match"] = "\"v1\""
        let knowing = Task { [own] in try await topics.value(Topic.self, for: own) }
        await transport.waitForRequests(1)
        let plain = Task { try await topics.value(Topic.self, for: configuration()) }
        await transport.waitForRequests(2)
        await clock.waitForTimers(2, in: .seconds(1))
        clock.advance(by: .seconds(1))

        await #expect(throws: APIError(.status(304))) { try await knowing.value }
        #expect(try await plain.value.title == "one")
    }

    @Test func `a 304 response to the app's own If-None-Match is not stored`() async throws {
        let transport = StubTransport { request in
            request.headers["If-None-Match"] == nil ? .json("[1]") : .status(304)
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        var own = configuration()
        own.headers["If-None-Match"] = "\"v1\""
        own.rules = ResponseRules(status: .successOrRedirect)

        for _ in 0..<2 { #expect(try await topics.response(for: own, with: .data).status == 304) }
        #expect(transport.requestCount == 2)
        #expect(try await topics.response(for: configuration(), with: .data).value == Data("[1]".utf8))
    }

    @Test func `a 304 response to the app's own If-None-Match does not revalidate a stored response`() async throws {
        let transport = StubTransport { request in
            if request.headers["If-None-Match"] == "\"v2\"" { return .status(304, headers: ["ETag": "\"v2\""]) }
            let headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": "\"v1\""]
            return .status(200, headers: headers, body: Data(#"{"id":1,"title":"one"}"#.utf8))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        _ = try await topics.value(Topic.self, for: configuration())
        clock.advance(by: .seconds(61))
        var own = configuration()
        own.headers["If-None-Match"] = "\"v2\""

        await #expect(throws: APIError(.status(304))) { try await topics.value(Topic.self, for: own) }
    }

    @Test(arguments: ["max-age=100", "min-fresh=1"])
    func `a call with a freshness requirement gets no stale response`(control: String) async throws {
        let (client, transport) = try tagged(["Cache-Control": "max-age=10, stale-while-revalidate=100"])
        let topics = TopicAPI(client: client)
        var http = configuration()
        http.cache.freshness = .http
        _ = try await topics.response(for: http, with: serializer)
        clock.advance(by: .seconds(15))
        http.headers["Cache-Control"] = control

        #expect(try await topics.response(for: http, with: serializer).source == .network)
        #expect(transport.requestCount == 2)
    }

    @Test func `the Cache-Control and Age of a response decide how long it is fresh`() async throws {
        let (client, transport) = try tagged(["Cache-Control": "max-age=10", "Age": "4"])
        let topics = TopicAPI(client: client)
        var http = configuration(.seconds(1_000))
        http.cache.freshness = .http
        _ = try await topics.response(for: http, with: serializer)

        clock.advance(by: .seconds(5))
        #expect(try await topics.response(for: http, with: serializer).isFromCache)
        clock.advance(by: .seconds(2))
        #expect(try await topics.response(for: http, with: serializer).source == .network)
        #expect(transport.requestCount == 2)
    }

    @Test(arguments: ["no-store", "max-age=0", "no-cache", ""])
    func `a response that must not be reused is requested again`(control: String) async throws {
        let (client, transport) = try tagged(["Cache-Control": control])
        let topics = TopicAPI(client: client)
        var http = configuration()
        http.cache.freshness = .http
        for _ in 0..<2 { _ = try await topics.value(Topic.self, for: http) }

        #expect(transport.requestCount == 2)
    }

    @Test func `the server can permit stale responses during revalidation and after its own errors`() async throws {
        let fails = Locked(false)
        let transport = StubTransport { _ in
            guard !fails.withLock({ $0 }) else { return .status(503) }
            let headers: HTTPHeaders = [
                "Content-Type": "application/json",
                "Cache-Control": "max-age=10, stale-while-revalidate=20, stale-if-error=100",
            ]
            return .status(200, headers: headers, body: Data(#"{"id":1,"title":"one"}"#.utf8))
        }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        var http = configuration()
        http.cache.freshness = .http
        _ = try await topics.value(Topic.self, for: http)

        clock.advance(by: .seconds(15))
        fails.withLock { $0 = true }
        #expect(try await topics.response(for: http, with: serializer).source == .staleCache(age: .seconds(15)))
        await transport.waitForRequests(2)
        await transport.waitUntilIdle()
        clock.advance(by: .seconds(50))
        #expect(try await topics.response(for: http, with: serializer).source == .staleCache(age: .seconds(65)))
        clock.advance(by: .seconds(100))
        await #expect(throws: APIError(.status(503))) { try await topics.value(Topic.self, for: http) }
    }

    @Test func `a PUT with removesTags removes the stored responses with the tags`() async throws {
        let (client, transport) = try tagged()
        let topics = TopicAPI(client: client)
        var read = configuration()
        read.cache.tags = ["topic-1", "topics"]
        _ = try await topics.value(Topic.self, for: read)
        var change = APIConfiguration(path: "topics/1", method: .put)
        change.cache.removesTags = ["topics"]

        try await topics.send(change)

        #expect(topics.cache.count == 0)
        _ = try await topics.value(Topic.self, for: read)
        #expect(transport.requestCount == 3)
    }
}
