import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Rewritten paths, the preferred zone and the selector.
extension ServerRoleTests {
    @Test(arguments: [
        ("catalog", "/v1/static/catalog.json"), ("catalog?page=2", "/v1/static/catalog.json?page=2"),
        ("catalog/7", "/v1/static/items/7"), ("catalog/a/b%20c", "/v1/static/items/a/b%20c"),
        ("catalog/special", "/v1/s.json"), ("catalog/deep/7", "/v1/d/7"), ("catalogs", "/v1/catalogs"),
    ])
    func `a rewrite replaces the path that it matches and keeps the rest of the path and the query`(
        path: String,
        expected: String
    ) async throws {
        let rewrites = [
            "/catalog": "/static/catalog.json", "/catalog/**": "/static/items/**", "/catalog/special": "/s.json",
            "/catalog/deep/**": "/d/**",
        ]
        let (client, transport) = try client([server("mirror", .reads, rewrites: rewrites)]) { _ in .status(200) }

        _ = try await client.send(APIConfiguration(path: path))

        #expect(transport.requests.map(\.url.text) == ["http://mirror.test\(expected)"])
    }

    @Test func `a rewrite for one server does not change the path that other servers get`() async throws {
        let servers = try [server("mirror", rewrites: ["/a/**": "/b/**"]), server("primary")]
        let (client, transport) = try client(servers) { $0.server == "mirror" ? .status(500) : .status(200) }

        _ = try await client.send(APIConfiguration(path: "a/1"))

        #expect(transport.requests.map(\.url.path) == ["/v1/b/1", "/v1/a/1"])
        #expect(client.path(of: "http://mirror.test/v1/b/2?c=3") == "a/2?c=3")
    }

    @Test func `an absolute URL is not rewritten`() async throws {
        let (client, transport) = try client([server("mirror", rewrites: ["/a": "/b"])]) { _ in .status(200) }

        _ = try await client.send(APIConfiguration(path: "http://mirror.test/v1/a"))

        #expect(transport.requests.map(\.url.path) == ["/v1/a"])
    }

    @Test(arguments: ["/orders", "/orders/**", "/**"])
    func `creating a client throws if a server has a rewrite for a path that it does not serve`(source: String) throws {
        let target = source.hasSuffix("/**") ? "/a/**" : "/a"
        let server = try server("mirror", ["GET /catalog/*"], rewrites: [source: target])

        let isMistake = source != "/**"
        do throws(ClientError) {
            _ = try NetworkClient(
                service: try! Service(name: "a", servers: [server], defaultEnvironment: .test),
                transport: StubTransport { _ in .status(200) }
            )
            #expect(!isMistake)
        } catch {
            guard case .catalog(let error) = error else { throw error }
            #expect(isMistake && error.keyPath == "servers[0].rewrites.\(source)")
        }
    }

    // MARK: - Zone and selector

    @Test func `the servers of the client's preferred zone come first in every environment`() async throws {
        let servers = try ["us", "eu"].map { zone in
            let url = try ServerURL("http://\(zone).test")
            return Server(name: zone, baseURLs: [.test: url, .develop: url], zone: zone)
        }
        let (client, transport) = try client(servers) {
            $0.preferredZone = "eu"
        } _: { _ in
            .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "a"))
        try client.preferZone("us")
        _ = try await client.send(APIConfiguration(path: "a"))
        try client.switchEnvironment(to: .develop)
        _ = try await client.send(APIConfiguration(path: "a"))

        #expect(transport.requests.map(\.server) == ["eu", "us", "us"])
        #expect(throws: ClientError.unknownZone("asia", known: ["eu", "us"])) { try client.preferZone("asia") }
        #expect(client.preferredZone == "us")
    }

    @Test func `creating a client with an unknown preferred zone throws`() throws {
        #expect(throws: ClientError.unknownZone("eu", known: [])) {
            try client([server("a")]) {
                $0.preferredZone = "eu"
            } _: { _ in
                .status(200)
            }
        }
    }

    @Test func `the server selector of a client limits the choice to the servers that it returns`() async throws {
        let seen = Locked<[[String]]>([])
        var policy = SwitchPolicy.recommended
        policy.selector = ServerSelector { candidates in
            seen.withLock { $0.append(candidates.map(\.id)) }
            return ["c", "a"]
        }
        let servers = try [server("m", ["GET /x"]), server("b"), server("c"), server("a")]
        let (client, transport) = try client(servers, switching: policy) { request in
            request.server == "c" ? .status(500) : .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "orders"))

        #expect(transport.requests.map(\.server) == ["c", "a"])
        #expect(seen.withLock { $0 } == [["b", "c", "a"], ["b", "a"]])
    }

    @Test(arguments: [[], ["nobody"]])
    func `a server selector that returns no server has no effect`(wanted: [String]) async throws {
        var policy = SwitchPolicy.recommended
        policy.selector = ServerSelector { _ in wanted }
        let (client, transport) = try client([server("a"), server("b")], switching: policy) { _ in .status(200) }

        _ = try await client.send(APIConfiguration(path: "orders"))

        #expect(transport.requests.map(\.server) == ["a"])
    }

    @Test(arguments: [APIConfiguration.ServerChoice.named("a"), .automatic])
    func `the server selector is not called if no other server serves the request`(
        server: APIConfiguration.ServerChoice
    ) async throws {
        let count = Locked(0)
        var policy = SwitchPolicy.recommended
        policy.selector = ServerSelector { candidates in
            count.withLock { $0 += 1 }
            return candidates.map(\.id)
        }
        let servers = try ["a", "b", "c"].map { try self.server($0) }
        let (client, _) = try client(servers, switching: policy) { _ in .failure(.connectionReset) }
        var call = APIConfiguration(path: "orders", method: .post)
        call.server = server

        _ = await client.failure(of: call)

        #expect(count.withLock { $0 } == (server == .automatic ? 1 : 0))
    }

    @Test func `a server selector may call the client`() async throws {
        let box = Locked<NetworkClient?>(nil)
        var policy = SwitchPolicy.recommended
        policy.selector = ServerSelector { candidates in
            let current = box.withLock { $0 }?.currentServer
            return candidates.map(\.id).filter { $0 != current }
        }
        let (client, transport) = try client([server("a"), server("b")], switching: policy) { _ in .status(200) }
        box.withLock { $0 = client }

        _ = try await client.send(APIConfiguration(path: "orders"))

        #expect(transport.requests.map(\.server) == ["b"])
        box.withLock { $0 = nil }
    }
}
