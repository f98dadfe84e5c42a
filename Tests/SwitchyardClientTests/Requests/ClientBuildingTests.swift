import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The client's additions to the generator: environments, rules, content delivery networks and options.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ClientBuildingTests {
    static let base = "https://topics.example.com"

    /// One server with a CDN in two environments.
    static func service() throws -> Service {
        try Service(
            name: "topics",
            servers: [
                Server(
                    name: "primary",
                    baseURLs: [.test: ServerURL("http://test.example/v1"), .release: ServerURL("\(base)/v1")],
                    cdnURLs: [.test: ServerURL("http://cdn.test.example")]
                )
            ],
            defaultEnvironment: .test
        )
    }

    // Options are set once in one place, and a later change to the copy has no effect.
    @Test func `options can be set in a closure when a client is created`() async throws {
        let transport = StubTransport { _ in .status(204) }
        var kept = NetworkClient.Options()
        let client = try NetworkClient(service: Self.service(), transport: transport) { options in
            options.generator.common.headers = ["X-App": "demo"]
            options.generator.pathFilters = [.appending(["filtered": 1])]
            options.generator.timeouts.total = .seconds(7)
            kept = options
        }
        kept.generator.common.headers = ["X-App": "changed"]

        _ = try await client.send(APIConfiguration(path: "list"))

        let request = try #require(transport.requests.first)
        #expect(request.url.text == "http://test.example/v1/list?filtered=1")
        #expect(request.headers["X-App"] == "demo")
    }

    // Without a CDN, the call's base URL overrides the server's. With a CDN, the call's CDN overrides the
    // server's.
    @Test func `a CDN is used only on request, and the call's CDN overrides the server's`() throws {
        let client = try NetworkClient(service: Self.service(), transport: StubTransport { _ in .status(204) })
        func url(_ change: (inout APIConfiguration) -> Void) throws -> String {
            var configuration = APIConfiguration(path: "a.png")
            change(&configuration)
            return try client.request(for: configuration).url.text
        }
        let own = try RequestURL(validating: "http://own.example/x")
        let network = try RequestURL(validating: "http://cdn.own.example")

        #expect(try url { $0.cdnURL = network } == "http://test.example/v1/a.png")
        #expect(try url { $0.server = .baseURL(own) } == "http://own.example/x/a.png")
        #expect(try url { $0.usesCDN = true } == "http://cdn.test.example/a.png")
        #expect(
            try url {
                $0.usesCDN = true
                $0.cdnURL = network
            } == "http://cdn.own.example/a.png"
        )
        try client.switchEnvironment(to: .release)
        #expect(try url { $0.usesCDN = true } == "\(Self.base)/v1/a.png")
    }

    @Test func `each environment has its own signing keys`() async throws {
        let keys = [ServiceEnvironment.test: ("public-t", "private-t"), .release: ("public-r", "private-r")]
        let transport = StubTransport { _ in .status(204) }
        let client = try NetworkClient(service: Self.service(), transport: transport) { options in
            options.perEnvironment = { generator, environment in
                guard let (publicKey, privateKey) = keys[environment] else { return }
                generator.apiVersion = environment == .test ? "beta" : ""
                generator.common.headers.set("X-Key", publicKey)
                let signer = RequestSigner(.hmacSHA256(key: Data(privateKey.utf8)), in: .header("X-Signature"))
                generator.modifiers.append(signer.sign)
            }
        }

        _ = try await client.send(APIConfiguration(path: "list"))
        try client.switchEnvironment(to: .release)
        _ = try await client.send(APIConfiguration(path: "list"))

        let text = { (path: String) in Data("GET\n\(path)\n\n\n\(MessageDigest.sha256([]).hexText)".utf8) }
        let requests = transport.requests
        #expect(requests.map { $0.headers["X-Key"] } == ["public-t", "public-r"])
        #expect(
            requests.map { $0.headers["X-Signature"] } == [
                MessageDigest.hmacSHA256(text("/v1/beta/list"), key: "private-t".utf8).hexText,
                MessageDigest.hmacSHA256(text("/v1/list"), key: "private-r".utf8).hexText,
            ]
        )
    }

    // Cookies from the servers of one environment are not sent to those of another.
    @Test func `cookies of one environment are neither sent nor removed in another environment`() throws {
        let jar = CookieJar()
        let cookie = Cookie(name: "a", value: "1", domain: "example", isHostOnly: false)
        let service = try Service.topics()
        let client = try NetworkClient(service: service, transport: StubTransport { _ in .status(204) }) { options in
            options.generator.cookies = jar
        }
        jar.scoped(to: "test").store(Cookie(name: "t", value: "1", domain: "primary.test"))
        jar.scoped(to: "release").store(Cookie(name: "r", value: "1", domain: "primary.test"))
        jar.store(cookie)

        #expect(try client.request(for: APIConfiguration(path: "x")).headers["Cookie"] == "t=1")
        #expect(jar.cookies.map(\.name) == ["t", "r", "a"])
        #expect(jar.scoped(to: "test").cookies.map(\.name) == ["t"])
        jar.scoped(to: "test").removeAll()
        #expect(jar.cookies.map(\.name) == ["r", "a"])
    }

    // Settings for a group of calls are chosen by URL and method, and later rules override earlier ones.
    @Test func `the client's rules apply settings to the calls that match their patterns`() async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = try NetworkClient(service: Self.service(), transport: transport) { options in
            options.rules.add("/images/**") { $0.headers.set("Accept", "image/*") }
            options.rules.add("/**", methods: [.post]) { $0.headers.set("X-Write", "1") }
            options.rules.add(where: { $0.path.hasSuffix(".png") }) { $0.headers.set("Accept", "image/png") }
        }

        for (path, method) in [("images/a", HTTPMethod.get), ("images/b.png", .get), ("list", .post)] {
            _ = try await client.send(APIConfiguration(path: path, method: method))
        }

        let requests = transport.requests
        #expect(requests.map { $0.headers["Accept"] } == ["image/*", "image/png", "*/*"])
        #expect(requests.map { $0.headers["X-Write"] } == [nil, nil, "1"])
    }

    // No cached state has to be invalidated.
    @Test(arguments: ["primary", "secondary"])
    func `rules apply to a prebuiltRequest whichever server of the service its URL names`(server: String) async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(204) }
        client.rules.add("/images/**") { $0.responseBodyLimit = 7 }
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = HTTPRequest(
            url: try RequestURL(validating: "http://\(server).test/v1/images/1")
        )

        _ = try await client.send(configuration)

        #expect(transport.requests.last?.responseBodyLimit == 7)
    }

    @Test func `changed rules apply from the next call`() async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = try NetworkClient(service: Self.service(), transport: transport)

        _ = try await client.send(APIConfiguration(path: "a"))
        client.rules.add("/**") { $0.headers.add("X-Rule", "1") }
        _ = try await client.scoped().send(APIConfiguration(path: "b"))
        client.rules = ConfigurationRules()
        _ = try await client.send(APIConfiguration(path: "c"))

        #expect(transport.requests.map { $0.headers.values(of: "X-Rule") } == [[], ["1"], []])
    }

    @Test func `a path that leaves the base URL is a URL error even if the client has rules`() async throws {
        let client = try NetworkClient(service: Self.service(), transport: StubTransport { _ in .status(204) })
        client.rules.add("/**") { $0.headers.add("X-Rule", "1") }

        let expected = RequestError.url(text: "../x", reason: .escapesBasePath)
        #expect(await client.failure(of: APIConfiguration(path: "../x")) == .invalidRequest(expected))
    }

    @Test func `a request can be built without being sent`() throws {
        let transport = StubTransport { _ in .status(204) }
        let client = try NetworkClient(service: Self.service(), transport: transport)

        let request = try client.request(for: APIConfiguration(path: "x", query: ["a": 1]))

        #expect(request.url.text == "http://test.example/v1/x?a=1")
        #expect(throws: RequestError.self) { try client.request(for: APIConfiguration(path: "../x")) }
        #expect(transport.requestCount == 0)
    }

    // A write carries the same idempotency key however often it is sent.
    @Test func `a write that is sent again carries the same idempotency key`() async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .failure(.connectionReset) : .status(201)
        }
        var configuration = APIConfiguration(path: "x", method: .post)
        configuration.idempotencyKey = .automatic

        let response = try await client.send(configuration)
        _ = try await client.send(configuration)

        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(response.status == 201)
        #expect(keys.count >= 3)
        #expect(keys[0] != nil && keys[0] == keys[1])
        #expect(Set(keys).count == 2)
    }
}
