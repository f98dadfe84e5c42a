import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A server gets no request that it does not serve.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerRoleTests {
    func server(
        _ name: String,
        _ serves: ServedRequests = .everything,
        rewrites: [String: String] = [:]
    ) throws -> Server {
        try Server(
            name: name,
            baseURLs: [.test: ServerURL("http://\(name).test/v1")],
            serves: serves,
            rewrites: rewrites
        )
    }

    func client(
        _ servers: [Server],
        switching: SwitchPolicy = .recommended,
        time: ManualClock = ManualClock(),
        _ change: (inout NetworkClient.Options) -> Void = { _ in },
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (NetworkClient, StubTransport) {
        let transport = StubTransport(answer)
        var options = NetworkClient.Options(seed: 1)
        change(&options)
        let service = try Service(name: "shop", servers: servers, defaultEnvironment: .test, switching: switching)
        return (try NetworkClient(service: service, transport: transport, options: options, time: time), transport)
    }

    func mirrored(
        switching: SwitchPolicy = .recommended,
        time: ManualClock = ManualClock(),
        _ change: (inout NetworkClient.Options) -> Void = { _ in },
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (NetworkClient, StubTransport) {
        let servers = try [server("primary"), server("mirror", ["GET /catalog/**", "HEAD /**"])]
        return try client(servers, switching: switching, time: time, change, answer)
    }

    // MARK: - Choice

    @Test(arguments: [
        StubResponse.failure(.connectionRefused), .failure(.connectionReset), .status(503), .status(500),
        .failure(.timeout),
    ])
    func `a request fails over to a mirror server only if the mirror serves the request`(failure: StubResponse)
        async throws
    {
        let (client, transport) = try mirrored { $0.server == "primary" ? failure : .status(200) }

        for number in 0..<40 {
            _ = try? await client.send(APIConfiguration(path: "orders/\(number)"))
            _ = try? await client.send(APIConfiguration(path: "orders", method: .post))
            _ = try? await client.send(APIConfiguration(path: "catalog", method: .put))
            let read = try await client.send(APIConfiguration(path: "catalog/\(number)"))
            #expect(read.context.server == "mirror")
        }

        let mirrored = transport.requests.filter { $0.server == "mirror" }
        #expect(mirrored.allSatisfy { $0.method == .get && $0.url.path.hasPrefix("/v1/catalog") })
    }

    @Test(arguments: [
        ("orders", HTTPMethod.get, false), ("orders", .head, true), ("catalog", .get, true), ("/catalog/", .get, true),
        ("catalog/7?page=2", .get, true), ("catalog/7", .post, false), ("catalogue", .get, false),
        ("catalog/../orders", .get, false), ("cat%61log/7", .get, true), ("CATALOG/7", .get, false),
        ("catalog/%2e%2e/orders", .get, false), ("catalog/{id}", .get, true),
    ])
    func `the pattern of a server role is compared with the method and the normalized path`(
        path: String,
        method: HTTPMethod,
        isServed: Bool
    ) async throws {
        let servers = try [server("mirror", ["GET /catalog/**", "GET /catalog", "HEAD /**"]), server("primary")]
        let (client, transport) = try client(servers) { _ in .status(200) }
        var configuration = APIConfiguration(path: path, method: method)
        configuration.pathValues = ["id": 7]

        _ = try await client.send(configuration)

        #expect(transport.requests.map(\.server) == [isServed ? "mirror" : "primary"])
    }

    @Test func `a server that serves only reads gets no writes`() async throws {
        let (client, transport) = try client([server("replica", .reads), server("primary")]) { _ in .status(200) }
        let methods: [HTTPMethod] = [.get, .head, .options, .post, .put, .patch, .delete]

        for method in methods { _ = try await client.send(APIConfiguration(path: "a", method: method)) }

        #expect(transport.requests.map(\.server) == methods.map { $0.isSafe ? "replica" : "primary" })
        #expect(client.currentServer == "primary")
    }

    @Test(arguments: [("orders", "no other server serves the request"), ("catalog/7", "no server left")])
    func `the last attempt of a failed call states whether another server serves the request`(
        path: String,
        reason: String
    ) async throws {
        let (client, _) = try mirrored { _ in .failure(.connectionRefused) }

        let result = await client.result(of: APIConfiguration(path: path))

        #expect(result.context.history.attempts.last?.next.map { "\($0)" } == reason)
    }

    @Test func `the error for a request that no server serves names the path and the servers`() async throws {
        let servers = try [server("a", ["GET /catalog/**"]), server("b", .reads)]
        let (client, transport) = try client(servers) { _ in .status(200) }

        let failure = await client.failure(of: APIConfiguration(path: "orders", method: .post))

        let expected = UnservedRequest(method: .post, path: "/orders", servers: ["a", "b"])
        #expect(failure == .unserved(expected))
        #expect(failure?.description == "none of the servers a, b serves POST /orders")
        #expect(transport.requests.isEmpty)
    }

    @Test func `a call fails if it names a server that does not serve the call`() async throws {
        let (client, transport) = try mirrored { _ in .status(200) }
        var configuration = APIConfiguration(path: "orders")
        configuration.server = .named("mirror")

        let failure = await client.failure(of: configuration)

        #expect(failure == .unserved(UnservedRequest(method: .get, path: "/orders", servers: ["mirror"])))
        #expect(failure?.description == "the server mirror does not serve GET /orders")
        configuration.path = "catalog/1"
        #expect(try await client.send(configuration).context.server == "mirror")
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        ("v1/catalog/1", true), ("v1/orders", false), ("files/1", true), ("%761/orders", false),
        ("files/../v1/orders", false), ("files/%2e%2e/v1/orders", false),
    ])
    func `an absolute URL below the base URL of a server is sent only if the server serves it`(
        path: String,
        isServed: Bool
    ) async throws {
        let (client, transport) = try mirrored { _ in .status(200) }

        let failure = await client.failure(of: APIConfiguration(path: "http://mirror.test/\(path)"))

        #expect((failure == nil) == isServed)
        #expect(transport.requests.count == (isServed ? 1 : 0))
    }

    @Test func `a request that a modifier changes is sent to a server that serves the changed request`() async throws {
        let servers = try [server("replica", .reads), server("mirror", ["GET /**"]), server("primary")]
        let (client, transport) = try client(servers) { options in
            options.generator.modifiers = [{ $0.method = .post }]
        } _: { _ in
            .status(200)
        }

        let response = try await client.send(APIConfiguration(path: "a"))

        #expect(response.context.server == "primary")
        #expect(transport.requests.map(\.server) == ["primary"])
    }

    @Test func `a request that a modifier changes fails if no server serves it`() async throws {
        let (client, transport) = try client([server("replica", .reads)]) { options in
            options.generator.modifiers = [{ $0.method = .post }]
        } _: { _ in
            .status(200)
        }

        let failure = await client.failure(of: APIConfiguration(path: "a"))

        #expect(failure == .unserved(UnservedRequest(method: .post, path: "/v1/a", servers: ["replica"])))
        #expect(transport.requests.isEmpty)
    }

    // MARK: - Other ways

    @Test(arguments: ["http://mirror.test/v1/orders", "http://elsewhere.test/"])
    func `a redirect to a server that does not serve its target is not followed`(target: String) async throws {
        let (client, transport) = try mirrored { request in
            request.server == "primary"
                ? .status(302, headers: ["Location": target])
                : .status(302, headers: ["Location": "http://mirror.test/v1/orders"])
        }

        let failure = await client.failure(of: APIConfiguration(path: "orders"))

        let unserved = UnservedRequest(method: .get, path: "/v1/orders", servers: ["mirror"])
        #expect(failure == .redirect(.unserved(unserved)))
        #expect(!transport.requests.contains { $0.server == "mirror" })
    }

    @Test(arguments: ["v1/catalog/1", "files/1"])
    func `a redirect to a server that serves its target, or to a path outside the service, is followed`(
        target: String
    ) async throws {
        let (client, _) = try mirrored { request in
            request.server == "primary"
                ? .status(302, headers: ["Location": "http://mirror.test/\(target)"]) : .status(200)
        }

        #expect(try await client.send(APIConfiguration(path: "orders")).status == 200)
    }

    @Test(arguments: [("orders", 1), ("catalog/1", 2)])
    func `a slow request is hedged only at a server that serves it`(path: String, count: Int) async throws {
        let time = ManualClock()
        let (client, transport) = try mirrored(time: time) { $0.server == "primary" ? .never : .status(200) }

        let failure = Task { await client.failure(of: APIConfiguration(path: path, timeout: .seconds(5))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))
        for _ in 0..<(count == 1 ? 60 : 5) { time.advance(by: .milliseconds(100)) }

        #expect(await failure.value == (count == 1 ? .deadlineExceeded : nil))
        #expect(transport.requests.count == count)
    }

    @Test func `suspicion probes of a slow write go only to servers that serve the probes`() async throws {
        let time = ManualClock()
        let (client, transport) = try mirrored(time: time) { request in
            request.method == .post ? .never : .status(200)
        }

        let write = APIConfiguration(path: "orders", method: .post, timeout: .seconds(5))
        let failure = Task { await client.failure(of: write) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))
        for _ in 0..<60 { time.advance(by: .milliseconds(100)) }

        #expect(await failure.value == .deadlineExceeded)
        #expect(!transport.requests.contains { $0.server == "mirror" })
    }

    @Test(arguments: [nil, "health"])
    func `a mirror server is probed with requests that it serves`(probePath: String?) async throws {
        let (isDown, time) = (Locked(false), ManualClock())
        let servers = try [server("mirror", ["GET /catalog/**"]), server("primary")]
        let (client, transport) = try client(servers, switching: .smallFleet, time: time) { options in
            options.probePath = probePath
        } _: { request in
            request.server == "mirror" && isDown.withLock { $0 } ? .failure(.connectionRefused) : .status(200)
        }
        let catalog = APIConfiguration(path: "catalog/1")
        _ = try await client.send(catalog)
        isDown.withLock { $0 = true }
        for _ in 0..<30 { _ = try await client.send(catalog) }
        #expect(client.servers.first?.state == .ejected)
        isDown.withLock { $0 = false }

        for _ in 0..<20 where client.servers.first?.state == .ejected {
            time.advance(by: .seconds(1))
            _ = try await client.send(APIConfiguration(path: "orders"))
            _ = try await client.send(catalog)
            // The request starts the probe that is due. The next one is due later, so the condition is its end.
            await until { client.servers.first.map { $0.state != .ejected || $0.nextProbe != .zero } ?? true }
        }

        #expect(client.servers.first?.state != .ejected)
        let mirrored = transport.requests.filter { $0.server == "mirror" }
        #expect(mirrored.allSatisfy { $0.url.path == "/v1/catalog/1" })
    }

    @Test func `after the servers are replaced, later calls follow the roles of the new servers`() async throws {
        let (client, transport) = try client([server("a"), server("b")]) { _ in .status(200) }
        _ = try await client.send(APIConfiguration(path: "orders"))

        try client.replaceServers([server("a", ["GET /catalog/**"]), server("b")])
        _ = try await client.send(APIConfiguration(path: "orders"))
        _ = try await client.send(APIConfiguration(path: "catalog/1"))

        #expect(transport.requests.map(\.server) == ["a", "b", "a"])
    }
}
