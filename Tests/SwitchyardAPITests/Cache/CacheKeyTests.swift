import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardAPI

@Suite struct CacheKeyTests {
    private static let topics = CachePartition(service: "topics", environment: "release")

    @Test func `method, environment, service, user, headers and body are all part of the cache key`() {
        var keys: Set<CacheKey> = [CacheKey(Self.topics, path: "/a")]
        keys.insert(CacheKey(Self.topics, method: .post, path: "/a"))
        keys.insert(CacheKey(.init(service: "topics", environment: "test"), path: "/a"))
        keys.insert(CacheKey(.init(service: "users", environment: "release"), path: "/a"))
        keys.insert(CacheKey(.init(service: "topics", environment: "release", user: "1"), path: "/a"))
        keys.insert(CacheKey(.init(service: "topics", environment: "release", user: ""), path: "/a"))
        keys.insert(CacheKey(Self.topics, path: "/a", headers: [("Accept-Language", "en")]))
        keys.insert(CacheKey(Self.topics, path: "/a", body: Data("x".utf8)))

        #expect(keys.count == 8)
    }

    @Test func `the cache key ignores the order of parameters, but not the order of the values of one parameter`() {
        let forwards = CacheKey(Self.topics, path: "/a", parameters: [("a", "1"), ("b", "2")])
        let backwards = CacheKey(Self.topics, path: "/a", parameters: [("b", "2"), ("a", "1")])
        let list = CacheKey(Self.topics, path: "/a", parameters: [("a", "1"), ("a", "2")])
        let turned = CacheKey(Self.topics, path: "/a", parameters: [("a", "2"), ("a", "1")])

        #expect(forwards == backwards)
        #expect(list != turned)
    }

    @Test func `different lists of parameters have different cache keys`() {
        let lists: [[(name: String, value: String)]] = [
            [("a", "1&b=2")], [("a", "1"), ("b", "2")], [("a", "")], [], [("", "a")], [("a", "1:b")], [("a1", "b")],
            [("a", "1"), ("b", "")], [("a", "1b")], [("a", "1;1:b")],
        ]

        #expect(Set(lists.map { CacheKey(Self.topics, path: "/a", parameters: $0) }).count == lists.count)
    }

    @Test func `10,000 random requests have 10,000 different cache keys`() {
        var random = SystemRandomNumberGenerator()
        let alphabet = ["a", "b", "1", ":", ";", "&", "=", "", "é", "/"]
        func word() -> String {
            (0..<Int.random(in: 0...3, using: &random)).map { _ in alphabet.randomElement() ?? "" }.joined()
        }
        var requests: [[String]: CacheKey] = [:]
        for _ in 0..<10_000 {
            let parts = (0..<6).map { _ in word() }
            let partition = CachePartition(service: parts[0], environment: parts[1], user: parts[2])
            requests[parts] = CacheKey(partition, path: parts[3], parameters: [(parts[4], parts[5])])
        }

        #expect(Set(requests.values).count == requests.count)
    }

    @Test func `a cache key has service, environment, user, method and path as separate parts`() {
        let key = CacheKey(.init(service: "töpics", environment: "release", user: "7"), method: .put, path: "/a:b/ü")

        #expect(key.parts.partition == .init(service: "töpics", environment: "release", user: "7"))
        #expect(key.parts.method == "PUT")
        #expect(key.parts.path == "/a:b/ü")
    }

    @Test func `an empty path and a root path have different cache keys`() {
        #expect(CacheKey(Self.topics, path: "") != CacheKey(Self.topics, path: "/"))
    }

    @Test(arguments: [true, false])
    func `a response stored for one credential is not returned for another`(_ usesCredentials: Bool)
        async throws
    {
        let transport = StubTransport { request in
            .json(#"{"id": 1, "title": "\#(request.headers["Authorization"] ?? "nobody")"}"#)
        }
        let topics = TopicAPI(client: try .stubbed(transport))
        var titles: [String] = []
        for credential in [Credential.bearer("anna"), .bearer("bert"), .bearer("anna"), nil] {
            var call = TopicAPI.topic(1, lifetime: .seconds(60))
            call.credential = credential
            call.usesCredentials = usesCredentials
            titles.append(try await topics.value(Topic.self, for: call).title)
        }

        #expect(titles == ["Bearer anna", "Bearer bert", "Bearer anna", "nobody"])
        #expect(transport.requestCount == 3)
    }

    /// The titles that two calls get from a server whose titles name the caller.
    private func titles(
        _ changes: [@Sendable (inout APIConfiguration) -> Void],
        options: NetworkClient.Options = NetworkClient.Options()
    ) async throws -> [String] {
        let transport = StubTransport { request in
            let asking = [request.headers["X-Tenant"], request.headers["Cookie"], request.url.query]
            return .json(#"{"id": 1, "title": "\#(asking.compactMap(\.self).joined())"}"#)
        }
        let topics = TopicAPI(client: try .stubbed(transport, options: options))
        var titles: [String] = []
        for change in changes {
            var call = TopicAPI.topic(1, lifetime: .seconds(60))
            change(&call)
            titles.append(try await topics.value(Topic.self, for: call).title)
        }
        return titles
    }

    @Test func `calls with different modifiers do not share a response`() async throws {
        let found = try await titles([
            { $0.modifier = { $0.headers.set("X-Tenant", "a") } },
            { $0.modifier = { $0.headers.set("X-Tenant", "b") } },
        ])

        #expect(found == ["a", "b"])
    }

    @Test(arguments: [true, false])
    func `calls do not share a response if their URL rules give different URLs for one of the servers`(
        _ throwsElsewhere: Bool
    ) async throws {
        func leading(to query: String) -> @Sendable (inout APIConfiguration) -> Void {
            {
                $0.urlRule = { base, _ in
                    if base.origin.host == "release.example" { return RequestURL("\(base)/topics/1?\(query)") }
                    if throwsElsewhere { throw CancellationError() }
                    return nil
                }
            }
        }

        #expect(try await titles([leading(to: "a"), leading(to: "b"), leading(to: "a")]) == ["a", "b", "a"])
    }

    @Test func `the URL rule of a call to a named server is applied to that server's base URL`() async throws {
        let servers = try ["one", "two"].map {
            Server(name: $0, baseURLs: ["release": try ServerURL("http://\($0).example/v1")])
        }
        let service = try Service(name: "topics", servers: servers, defaultEnvironment: "release", switching: .off)
        let transport = StubTransport { .json(#"{"id": 1, "title": "\#($0.url.text)"}"#) }
        let topics = TopicAPI(client: try NetworkClient(service: service, transport: transport))
        var titles: [String] = []
        for query in ["a", "b", "a"] {
            var call = TopicAPI.topic(1, lifetime: .seconds(60))
            call.server = .named("two")
            call.urlRule = { base, _ in base.origin.host == "two.example" ? RequestURL("\(base)/t?\(query)") : nil }
            titles.append(try await topics.value(Topic.self, for: call).title)
            #expect(try topics.client.request(for: call).url.text == titles.last)
        }

        #expect(titles == ["a", "b", "a"].map { "http://two.example/v1/t?\($0)" })
    }

    @Test func `a URL rule that appends a path to the base URL gives the same cache key for all servers`() {
        let rules: [URLRule] = [
            { base, _ in RequestURL("\(base)/gateway?a=1") }, { base, _ in RequestURL("\(base.origin)/gateway?a=1") },
        ]
        for rule in rules {
            var call = APIConfiguration(path: "/a")
            call.urlRule = rule
            let keys = ["https://one.example/v1", "https://two.example/v1"].map { base in
                CacheKey.of(call, policy: call.cacheBox, in: Self.topics, base: try? BaseURL(base))
            }
            #expect(keys[0] != nil && keys[0] == keys[1])
        }
    }

    @Test func `calls with different interceptors do not share a response`() async throws {
        let found = try await titles([
            { $0.interceptors = [.adapting { configuration, _ in configuration.headers.set("X-Tenant", "a") }] },
            { $0.interceptors = [.adapting { configuration, _ in configuration.headers.set("X-Tenant", "b") }] },
        ])

        #expect(found == ["a", "b"])
    }

    @Test func `a response to a call with cookies is not returned to a call without cookies`() async throws {
        let jar = CookieJar()
        var options = NetworkClient.Options()
        options.generator.cookies = jar
        jar.store(
            from: ["Set-Cookie": "sid=ada; Path=/"],
            of: try RequestURL(validating: "http://release.example/v1/topics/1")
        )

        #expect(try await titles([{ _ in }, { $0.usesCookies = false }], options: options) == ["sid=ada", ""])
    }

    @Test func `calls that encode their parameters differently do not share a response`() async throws {
        let found = try await titles([
            { $0.query = ["ids": [1, 2]] },
            {
                $0.query = ["ids": [1, 2]]
                $0.parameterOptions = ParameterEncodingOptions()
                $0.parameterOptions?.arrays = .commaSeparated
            },
        ])

        #expect(Set(found).count == 2)
    }

    @Test func `every call option that changes the request is part of the cache key`() {
        let changes: [(inout APIConfiguration) -> Void] = [
            { _ in }, { $0.upgradesToHTTPS = true }, { $0.usesCookies = false }, { $0.parameterDestination = .body },
            { $0.redirects = .refuse }, { $0.redirects = .sameOrigin },
        ]
        let keys = changes.map { change in
            var call = APIConfiguration(path: "/a")
            change(&call)
            return CacheKey.of(call, policy: call.cacheBox, in: Self.topics)
        }

        #expect(!keys.contains(nil) && Set(keys).count == changes.count)
    }

    @Test func `a response stored for one client certificate is not returned for another`() async throws {
        let transport = StubTransport { request in
            .json(#"{"id": 1, "title": "\#(request.tls?.clientIdentity?.password ?? "nobody")"}"#)
        }
        let topics = TopicAPI(client: try .stubbed(transport))
        var titles: [String] = []
        for name in ["anna", "bert", "anna", nil] {
            var call = TopicAPI.topic(1, lifetime: .seconds(60))
            let source = TLSConfiguration.ClientIdentity.Source.pem(Data())
            call.tls = name.map {
                TLSConfiguration(clientIdentity: .init(certificate: source, privateKey: source, password: $0))
            }
            titles.append(try await topics.value(Topic.self, for: call).title)
        }

        #expect(titles == ["anna", "bert", "anna", "nobody"])
        #expect(transport.requestCount == 3)
    }
}
