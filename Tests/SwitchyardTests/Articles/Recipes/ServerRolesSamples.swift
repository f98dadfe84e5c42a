import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

/// The samples of the article on the roles of servers, run against servers on this machine.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerRolesTests {
    // MARK: - Samples

    private func fallbackHost(_ api: String, _ fallback: String) throws -> Service {
        // sample
        let servers = try [
            Server(name: "api", baseURLs: [.release: ServerURL(api)]),
            Server(
                name: "fallback",
                baseURLs: [.release: ServerURL(fallback)],
                serves: ["GET /offerings/**", "POST /receipts"]
            ),
        ]
        let service = try Service(name: "shop", servers: servers, defaultEnvironment: .release)
        // end
        return service
    }

    private func staticMirror(_ api: String, _ cdn: String) throws -> Service {
        // sample
        let servers = try [
            Server(name: "api", baseURLs: [.release: ServerURL(api)]),
            Server(
                name: "mirror",
                baseURLs: [.release: ServerURL(cdn)],
                serves: ["GET /catalog", "GET /catalog/**"],
                rewrites: ["/catalog": "/static/catalog.json", "/catalog/**": "/static/items/**"]
            ),
        ]
        let service = try Service(name: "shop", servers: servers, defaultEnvironment: .release)
        // end
        return service
    }

    private func weightedGroups(_ a: String, _ b: String, _ c: String) throws -> Service {
        // sample
        let servers = try [
            Server(name: "eu-1", baseURLs: [.release: ServerURL(a)], weight: 3, priority: 1, zone: "eu"),
            Server(name: "eu-2", baseURLs: [.release: ServerURL(b)], weight: 1, priority: 1, zone: "eu"),
            Server(name: "us-1", baseURLs: [.release: ServerURL(c)], priority: 2, zone: "us"),
        ]
        let service = try Service(name: "shop", servers: servers, defaultEnvironment: .release)
        // end
        return service
    }

    private func fallbackMirror(_ main: String, _ backup: String, _ cdn: String) throws -> Service {
        // sample
        let servers = try [
            Server(name: "main", baseURLs: [.release: ServerURL(main)], weight: 3),
            Server(name: "backup", baseURLs: [.release: ServerURL(backup)], weight: 1),
            Server(name: "mirror", baseURLs: [.release: ServerURL(cdn)], weight: 0, serves: ["GET /topics"]),
        ]
        var policy = SwitchPolicy.recommended
        policy.selection = .weighted
        let service = try Service(name: "topics", servers: servers, defaultEnvironment: .release, switching: policy)
        // end
        return service
    }

    private func preferZone(_ client: NetworkClient) throws {
        // sample
        try client.preferZone("us")  // the device is in North America
        // end
    }

    private func narrow() -> SwitchPolicy {
        // sample
        var policy = SwitchPolicy.recommended
        policy.selector = ServerSelector { candidates in
            candidates.filter { ($0.p99 ?? .zero) < .seconds(1) }.map(\.id)
        }
        // end
        return policy
    }

    // MARK: - Tests

    private func started(_ count: Int) throws -> [LoopbackServer] {
        try (0..<count).map { _ in
            let server = LoopbackServer()
            server.setDefaultRoute { _ in .text("ok") }
            try server.start()
            return server
        }
    }

    @Test func `in the ServerRoles sample, a fallback host gets only the endpoints that it supports`() async throws {
        let servers = try started(2)
        let client = try NetworkClient(service: fallbackHost(servers[0].baseURL, servers[1].baseURL))
        servers[0].fault = .refuse

        for path in ["offerings/1", "offerings/2"] {
            #expect(try await client.send(APIConfiguration(path: path)).context.server == "fallback")
        }
        let receipt = APIConfiguration(path: "receipts", method: .post)
        #expect(try await client.send(receipt).context.server == "fallback")
        await #expect(throws: RequestFailure.self) { try await client.send(APIConfiguration(path: "login")) }
        await #expect(throws: RequestFailure.self) {
            try await client.send(APIConfiguration(path: "offerings/1", method: .delete))
        }

        let paths = servers[1].requests.map { "\($0.method) \($0.path)" }
        #expect(paths == ["GET /offerings/1", "GET /offerings/2", "POST /receipts"])
        #expect(client.currentServer == "api")
    }

    @Test func `in the ServerRoles sample, a static mirror gets requests with its own paths`() async throws {
        let servers = try started(2)
        let client = try NetworkClient(service: staticMirror(servers[0].baseURL, servers[1].baseURL))
        servers[0].fault = .refuse

        for path in ["catalog?page=2", "catalog/books/7"] {
            #expect(try await client.send(APIConfiguration(path: path)).context.server == "mirror")
        }
        await #expect(throws: RequestFailure.self) { try await client.send(APIConfiguration(path: "orders")) }

        #expect(servers[1].requests.map(\.path) == ["/static/catalog.json", "/static/items/books/7"])
    }

    @Test func `a group of servers shares its traffic by weight, and the next group takes over when it fails`()
        async throws
    {
        let servers = try started(3)
        let urls = servers.map(\.baseURL)
        let client = try NetworkClient(service: weightedGroups(urls[0], urls[1], urls[2])) { $0.seed = 1 }

        for _ in 0..<200 { _ = try await client.send(APIConfiguration(path: "a")) }

        let shares = servers.map { Double($0.requests.count { $0.path == "/a" }) / 200 }
        #expect((0.65...0.85).contains(shares[0]), "\(shares)")
        #expect((0.15...0.35).contains(shares[1]), "\(shares)")
        servers[0].fault = .refuse
        servers[1].fault = .refuse
        for _ in 0..<60 { _ = try await client.send(APIConfiguration(path: "b")) }
        #expect(servers[2].requests.count { $0.path == "/b" } >= 60)
    }

    @Test func `a fallback mirror with the weight 0 gets reads only when the other servers are dead`() async throws {
        let servers = try started(3)
        let urls = servers.map(\.baseURL)
        let client = try NetworkClient(service: fallbackMirror(urls[0], urls[1], urls[2])) { $0.seed = 1 }
        func answering(_ count: Int) async throws -> [String: Int] {
            var counts: [String: Int] = [:]
            for _ in 0..<count {
                let response = try await client.send(APIConfiguration(path: "topics"))
                counts[response.context.server ?? "", default: 0] += 1
            }
            return counts
        }

        let shares = try await answering(200)
        #expect((120...180).contains(shares["main", default: 0]), "\(shares)")
        #expect(shares["mirror", default: 0] <= 4, "\(shares)")
        servers[0].fault = .refuse
        #expect(try await answering(60)["backup", default: 0] >= 56)
        servers[1].fault = .refuse
        #expect(try await answering(60) == ["mirror": 60])
    }

    @Test func `in the ServerRoles sample, servers of the preferred zone are used first`() async throws {
        let servers = try started(3)
        let urls = servers.map(\.baseURL)
        let client = try NetworkClient(service: weightedGroups(urls[0], urls[1], urls[2]))

        try preferZone(client)

        #expect(try await client.send(APIConfiguration(path: "a")).context.server == "us-1")
        #expect(narrow().selector != nil)
    }
}
