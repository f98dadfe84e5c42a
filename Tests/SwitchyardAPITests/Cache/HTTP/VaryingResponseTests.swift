import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

/// Stored responses that do not match the request under HTTP caching rules (RFC 9111 section 4.1).
@Suite(.timeLimit(.minutes(5)), .prompt) struct VaryingResponseTests {
    private let clock = ManualClock()

    private func call(_ change: (inout APIConfiguration) -> Void = { _ in }) -> APIConfiguration {
        var configuration = APIConfiguration(path: "me")
        configuration.cacheLifetime = .seconds(600)
        configuration.cache.freshness = .http
        change(&configuration)
        return configuration
    }

    private func answer(_ text: String, _ headers: HTTPHeaders) -> StubResponse {
        .status(200, headers: headers, body: Data(text.utf8))
    }

    @Test(arguments: ["no-store", "max-age=10", "no-cache"])
    func `a call with freshness .http does not use a response that is fresh only by another call's lifetime`(
        control: String
    ) async throws {
        let transport = StubTransport(answers: [answer("one", ["Cache-Control": control]), answer("two", [:])])
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        let other = call { $0.cache.freshness = .lifetime }
        _ = try await topics.response(for: other, with: .string)
        clock.advance(by: .seconds(20))
        #expect(try await topics.response(for: other, with: .string).value == "one")

        #expect(try await topics.response(for: call(), with: .string).value == "two")
    }

    private static let phone: HTTPHeaders = [
        "Cache-Control": "max-age=600", "Vary": "User-Agent", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
    ]

    /// A manager of a server that varies by User-Agent, with a stored response to a phone.
    private func afterPhone() async throws -> (topics: TopicAPI, transport: StubTransport) {
        let transport = StubTransport { request in answer(request.headers["User-Agent"] ?? "", Self.phone) }
        let topics = TopicAPI(client: try .stubbed(transport, time: clock))
        _ = try await topics.response(for: call { $0.headers.set("User-Agent", "phone") }, with: .string)
        return (topics, transport)
    }

    @Test func `a refresh with another User-Agent sends no validator of the stored response`() async throws {
        let (topics, transport) = try await afterPhone()
        let refresh = call {
            $0.headers.set("User-Agent", "desk")
            $0.cache.reading = .never
        }

        #expect(try await topics.response(for: refresh, with: .string).value == "desk")
        #expect(transport.requests.map { $0.headers["If-Modified-Since"] } == [nil, nil])
    }

    @Test func `a response stored for another User-Agent is not delivered before the new response`() async throws {
        let (topics, _) = try await afterPhone()
        let desk = call { $0.headers.set("User-Agent", "desk") }

        #expect(topics.resource(for: desk, with: .string).value == nil)
        var values: [String] = []
        for try await answer in topics.responses(for: desk, with: .string) { values.append(answer.value) }
        #expect(values == ["desk"])
    }

    /// A client with cookies whose server returns the cookies that it received, fresh for ten minutes.
    private func greeting(
        _ server: LoopbackServer,
        _ jar: CookieJar,
        disk: (any ResponseStore)? = nil
    ) throws -> NetworkClient {
        var options = NetworkClient.Options()
        options.generator.cookies = jar
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: ["test": try ServerURL("\(server.baseURL)/v1")])],
            defaultEnvironment: "test",
            switching: .off
        )
        let client = try NetworkClient(service: service, options: options, time: clock)
        client.responseCache = ResponseCache(disk: disk, time: clock)
        return client
    }

    private func started() throws -> (server: LoopbackServer, url: RequestURL) {
        let server = LoopbackServer()
        server.route(.get, "/v1/*") { request in
            let headers: HTTPHeaders = ["Vary": "Cookie", "Cache-Control": "max-age=600", "Content-Type": "text/plain"]
            let cookies = request.headers["Cookie"] ?? "nobody"
            return LoopbackResponse(status: 200, headers: headers, body: .data(Data(cookies.utf8)))
        }
        try server.start()
        return (server, try RequestURL(validating: "\(server.baseURL)/v1/me"))
    }

    @Test func `a response that was stored with one session cookie is not returned for another session cookie`()
        async throws
    {
        let (server, url) = try started()
        let jar = CookieJar()
        let client = try greeting(server, jar)
        defer {
            client.shutdown()
            server.stop()
        }
        let topics = TopicAPI(client: client)
        var names: [String] = []
        for cookie in ["s=ada", nil, "s=bob", "s=; Max-Age=0"] {
            if let cookie { jar.store(from: ["Set-Cookie": "\(cookie)"], of: url) }
            names.append(try await topics.response(for: call(), with: .string).value)
        }

        #expect(names == ["s=ada", "s=ada", "s=bob", "nobody"])
        #expect(server.requests.count == 3)
    }

    @Test func `a response stored on disk without a session cookie is not returned to a later session`()
        async throws
    {
        let (server, url) = try started()
        defer { server.stop() }
        let folder = TemporaryFolder()
        let disk = try DiskCache(at: folder.url)
        var names: [String] = []
        for cookie in [nil, "s=ada"] {
            let jar = CookieJar()
            if let cookie { jar.store(from: ["Set-Cookie": "\(cookie)"], of: url) }
            let client = try greeting(server, jar, disk: disk)
            defer { client.shutdown() }
            names.append(try await TopicAPI(client: client).response(for: call(), with: .string).value)
            await disk.flush()
        }

        #expect(names == ["nobody", "s=ada"])
    }

    @Test func `a call after a login does not share a request that was started before the login`() async throws {
        let transport = StubTransport { [clock] request in
            let headers: HTTPHeaders = ["Vary": "Cookie", "Cache-Control": "max-age=600"]
            return .delayed(by: .seconds(1), on: clock, answer(request.headers["Cookie"] ?? "nobody", headers))
        }
        let jar = CookieJar()
        var options = NetworkClient.Options()
        options.generator.cookies = jar
        let client = try NetworkClient.stubbed(transport, options: options, time: clock)
        let topics = TopicAPI(client: client)
        let before = Task { try await topics.response(for: call(), with: .string).value }
        await transport.waitForRequests(1)
        let url = try RequestURL(validating: "http://release.example/v1/me")
        jar.store(from: ["Set-Cookie": "s=ada"], of: url)
        let after = Task { try await topics.response(for: call(), with: .string).value }
        await until { client.flights.waiting >= 2 }
        await clock.waitForTimers(client.flights.count, in: .seconds(1))

        clock.advance(by: .seconds(1))

        #expect(try await before.value == "nobody")
        #expect(try await after.value == "s=ada")
        #expect(try await topics.response(for: call(), with: .string).isFromCache)
    }

    // MARK: Computed header fields

    /// A client whose calls have the current tenant as a header field, and whose server returns the tenant.
    private func tenants(_ tenant: Locked<String?>) throws -> NetworkClient {
        let transport = StubTransport { request in
            answer(request.headers["X-Tenant"] ?? "", ["Vary": "X-Tenant", "Cache-Control": "max-age=600"])
        }
        var options = NetworkClient.Options()
        options.generator.common.computedHeaders = { _ in
            guard let name = tenant.withLock({ $0 }) else { throw NoTenant() }
            return ["X-Tenant": name]
        }
        return try .stubbed(transport, options: options, time: clock)
    }

    private struct NoTenant: Error {}

    @Test func `a response stored for one value of a computed header field is not returned for another value`()
        async throws
    {
        let tenant = Locked<String?>("red")
        let topics = TopicAPI(client: try tenants(tenant))
        var names: [String] = []
        for name in ["red", "red", "blue"] {
            tenant.withLock { $0 = name }
            let answer = try await topics.response(for: call(), with: .string)
            names.append("\(answer.value) \(answer.isFromCache)")
        }

        #expect(names == ["red false", "red true", "blue false"])
    }

    @Test func `a call fails if one of its header fields cannot be computed, even if a response is stored`()
        async throws
    {
        let tenant = Locked<String?>("red")
        let topics = TopicAPI(client: try tenants(tenant))
        _ = try await topics.response(for: call(), with: .string)
        tenant.withLock { $0 = nil }

        await #expect(throws: APIError.self) { try await topics.response(for: call(), with: .string) }
    }

    @Test func `removeResponse removes a stored response even if a common header field cannot be computed`()
        async throws
    {
        let tenant = Locked<String?>("red")
        let topics = TopicAPI(client: try tenants(tenant))
        _ = try await topics.response(for: call(), with: .string)
        tenant.withLock { $0 = nil }

        topics.removeResponse(for: call())

        tenant.withLock { $0 = "red" }
        #expect(try await topics.response(for: call(), with: .string).isFromCache == false)
    }

    @Test func `a response that varies by Cookie is not used after the computed common cookie changed`() async throws {
        let session = Locked("one")
        let headers: HTTPHeaders = ["Cache-Control": "max-age=600", "Vary": "Cookie"]
        let transport = StubTransport { request in answer(request.headers["Cookie"] ?? "", headers) }
        let client = try NetworkClient(service: .topics(), transport: transport, time: clock) { options in
            options.generator.cookies = CookieJar()
            options.generator.computedHeaders = { _ in ["Cookie": session.withLock { $0 }] }
        }
        let topics = TopicAPI(client: client)
        _ = try await topics.response(for: call(), with: .string)
        session.withLock { $0 = "two" }

        #expect(try await topics.response(for: call(), with: .string).value == "two")
    }
}
