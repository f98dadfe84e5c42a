import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct RedirectTests {
    /// A client whose server redirects the paths in the table and responds with 200 to all others.
    private static func client(
        _ table: [String: String],
        status: Int = 302,
        policy: RedirectPolicy = .follow,
        jar: CookieJar? = nil
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        try NetworkClient.stubbed(options: {
            $0.redirects = policy
            $0.generator.cookies = jar
        }) { request in
            let path = request.url.path
            return table[path].map { .status(status, headers: ["Location": $0]) } ?? .json("{}")
        }
    }

    @Test func `a redirect is followed by default, and its steps are in the context`() async throws {
        let (client, transport) = try Self.client(["/v1/a": "b?x=1", "/v1/b": "/c#part"])

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(answer.status == 200)
        #expect(answer.context.url?.text == "http://primary.test/c")
        #expect(answer.context.redirects.map(\.to.text) == ["http://primary.test/v1/b?x=1", "http://primary.test/c"])
        #expect(answer.context.redirects.map(\.fragment) == [nil, "part"])
        #expect(answer.context.attempts == 1)
        #expect(transport.requestCount == 3)
    }

    @Test func `a redirect target without a fragment inherits the fragment`() async throws {
        let (client, _) = try Self.client(["/v1/a": "/b"])

        let answer = try await client.send(APIConfiguration(path: "a#part"))

        #expect(answer.context.redirects.map(\.fragment) == ["part"])
    }

    @Test func `a call that refuses redirects gets the 3xx response`() async throws {
        let (client, transport) = try Self.client(["/v1/a": "b"])
        var configuration = APIConfiguration(path: "a")
        configuration.redirects = .refuse

        let answer = try await client.send(configuration)

        #expect(answer.status == 302)
        #expect(transport.requestCount == 1)
    }

    @Test func `a call that allows only its own origin fails on a redirect to another origin`() async throws {
        let (client, transport) = try Self.client(["/v1/a": "b", "/v1/b": "http://other.test/"], policy: .sameOrigin)

        let reason = await client.failure(of: APIConfiguration(path: "a"))

        let origin = try #require(RequestURL("http://other.test/")).origin
        #expect(reason == .redirect(.foreignOrigin(origin)))
        #expect(transport.requestCount == 2)
    }

    @Test func `a custom redirect policy may change the redirected request or stop following`() async throws {
        let policy = RedirectPolicy.deciding { proposal in
            guard proposal.steps.isEmpty else { return .refuse }
            var request = proposal.request
            request.headers["X-Hop"] = "1"
            return .send(request)
        }
        let (client, transport) = try Self.client(["/v1/a": "b", "/v1/b": "c"], policy: policy)

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(answer.status == 302)
        #expect(transport.requests.map { $0.headers["X-Hop"] } == [nil, "1"])
    }

    @Test(arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (301, "PUT", "PUT"),
        (302, "DELETE", "DELETE"), (303, "HEAD", "HEAD"), (307, "POST", "POST"), (308, "PATCH", "PATCH"),
    ])
    func `the method and body after a redirect follow RFC 9110`(status: Int, method: String, expected: String)
        async throws
    {
        let (client, transport) = try Self.client(["/v1/a": "b"], status: status)
        var configuration = APIConfiguration(path: "a", method: try #require(HTTPMethod(method)))
        if method != "HEAD" { configuration.body = .text("hello") }

        _ = try await client.send(configuration)

        let second = try #require(transport.requests.last)
        #expect(second.method.name == expected)
        let keepsBody = method == expected && method != "HEAD"
        #expect(second.body.length == (keepsBody ? 5 : 0))
        #expect((second.headers["Content-Type"] != nil) == keepsBody)
    }

    @Test(arguments: ["Content-Digest", "content-md5", "Digest", "Repr-Digest", "Content-Language"])
    func `a redirect that removes the request body also removes header fields that describe the body`(name: String)
        async throws
    {
        let (client, transport) = try Self.client(["/v1/a": "b"], status: 303)
        var configuration = APIConfiguration(path: "a", method: .post, body: .text("hello"))
        configuration.headers[name] = "of the body"
        configuration.headers["X-Kept"] = "yes"

        _ = try await client.send(configuration)

        #expect(transport.requests.map { $0.headers[name] } == ["of the body", nil])
        #expect(transport.requests.map { $0.headers["X-Kept"] } == ["yes", "yes"])
    }

    @Test func `a streamed body is read again after a 307`() async throws {
        let (client, transport) = try Self.client(["/v1/a": "b"], status: 307)
        let stream = HTTPBody.Stream(length: 3) { StringReader("abc") }
        let body = RequestBody.stream(stream, contentType: "text/plain")

        _ = try await client.send(APIConfiguration(path: "a", method: .put, body: body))

        for request in transport.requests {
            #expect(try await request.body.collected(upTo: 10) == Data("abc".utf8))
        }
    }

    @Test func `more redirects than the limit are an error`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { request in
            let number = Int(request.url.path.split(separator: "/").last ?? "") ?? 0
            return .status(302, headers: ["Location": "/\(number + 1)"])
        }

        let reason = await client.failure(of: APIConfiguration(path: "0"))

        #expect(reason == .redirect(.tooMany(limit: 20)))
        #expect(transport.requestCount == 21)
    }

    @Test func `a redirect loop is an error`() async throws {
        let (client, transport) = try Self.client(["/v1/a": "/v1/b", "/v1/b": "/v1/a"])

        let reason = await client.failure(of: APIConfiguration(path: "a"))

        #expect(reason == .redirect(.loop(try #require(RequestURL("http://primary.test/v1/a")))))
        #expect(transport.requestCount == 2)
    }

    @Test(arguments: ["/v1/a", "/v1/look"])
    func `a page that redirects to itself with a new cookie is requested again`(place: String) async throws {
        let jar = CookieJar()
        let (client, transport) = try NetworkClient.stubbed(options: { $0.generator.cookies = jar }) { request in
            if request.url.path == "/v1/look" { return .status(302, headers: ["Location": "/v1/a"]) }
            guard request.headers["Cookie"] == nil else { return .status(200) }
            return .status(302, headers: ["Location": place, "Set-Cookie": "seen=1; Path=/"])
        }

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(answer.status == 200)
        #expect(Set(transport.requests.map { $0.headers["Cookie"] }) == [nil, "seen=1"])
    }

    @Test func `a page that redirects to itself is requested again if the policy adds a header field`() async throws {
        let policy = RedirectPolicy.deciding { proposal in
            var request = proposal.request
            request.headers["X-Consent"] = "1"
            return .send(request)
        }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.redirects = policy }) { request in
            let isGiven = request.headers["X-Consent"] != nil
            return request.url.path == "/v1/a" && isGiven ? .status(200) : .status(302, headers: ["Location": "/v1/a"])
        }

        #expect(try await client.send(APIConfiguration(path: "a")).status == 200)
        #expect(transport.requestCount == 2)
    }

    @Test func `a redirect loop is an error even if the redirect policy makes the same change each time`() async throws
    {
        let policy = RedirectPolicy.deciding { proposal in
            var request = proposal.request
            request.headers["X-Hop"] = "1"
            return .send(request)
        }
        let (client, transport) = try Self.client(["/v1/a": "/v1/b", "/v1/b": "/v1/a"], policy: policy)

        let reason = await client.failure(of: APIConfiguration(path: "a"))

        #expect(reason == .redirect(.loop(try #require(RequestURL("http://primary.test/v1/b")))))
        #expect(transport.requestCount == 3)
    }

    @Test(arguments: ["file:///etc/passwd", "javascript:alert(1)", "ftp://primary.test/x", "data:text/plain,x"])
    func `a redirect to a URL that is neither http nor https is an error`(location: String) async throws {
        let (client, transport) = try Self.client(["/v1/a": location])

        let reason = await client.failure(of: APIConfiguration(path: "a"))

        guard case .redirect(.unusableTarget) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect(transport.requestCount == 1)
    }

    @Test func `a redirect from https to http is an error`() async throws {
        let (client, transport) = try Self.client(["/a": "http://safe.test/b"])

        let reason = await client.failure(of: APIConfiguration(path: "https://safe.test/a"))

        #expect(reason == .redirect(.insecure(try #require(RequestURL("http://safe.test/b")))))
        #expect(transport.requestCount == 1)
    }

    @Test func `credentials and cookies are not sent to another origin, nor to the first origin on the way back`()
        async throws
    {
        let (client, transport) = try Self.client(["/v1/a": "http://other.test/b", "/b": "http://primary.test/c"])
        var configuration = APIConfiguration(path: "a")
        configuration.headers = [
            "Authorization": "Bearer t", "Proxy-Authorization": "Basic x", "Cookie": "a=1", "X-API-Key": "k",
            "X-Trace": "1",
        ]

        _ = try await client.send(configuration)

        let secrets = ["Authorization", "Proxy-Authorization", "Cookie", "X-API-Key"]
        for request in transport.requests.dropFirst() {
            #expect(secrets.allSatisfy { request.headers[$0] == nil })
            #expect(request.headers["X-Trace"] == "1")
        }
        #expect(transport.requestCount == 3)
    }

    @Test func `once a redirect has left the first origin, no redirect target receives the client's credential`()
        async throws
    {
        let table = ["/v1/a": "http://other.test/b", "/b": "http://primary.test/v1/c", "/v1/c": "/v1/d"]
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = Credentials(.bearer("t")) }) {
            table[$0.url.path].map { .status(302, headers: ["Location": $0]) } ?? .json("{}")
        }

        _ = try await client.send(APIConfiguration(path: "a"))

        #expect(transport.requests.map(\.server) == ["primary", "other", "primary", "primary"])
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer t", nil, nil, nil])
    }

    @Test(arguments: [
        ("a", "https://primary.test/b", true), ("a", "https://primary.test:8443/b", false),
        ("a", "https://other.test/b", false), ("http://primary.test:8080/v1/a", "https://primary.test/b", false),
    ])
    func `credentials are sent after an upgrade to https only on the same host with default ports`(
        path: String,
        target: String,
        isSent: Bool
    ) async throws {
        let (client, transport) = try Self.client(["/v1/a": target])
        var configuration = APIConfiguration(path: path)
        configuration.headers = ["Authorization": "Bearer t"]

        _ = try await client.send(configuration)

        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer t", isSent ? "Bearer t" : nil])
    }

    @Test func `the user info of a redirect's Location is not sent as a credential`() async throws {
        let (client, transport) = try Self.client(["/v1/a": "http://user:word@other.test/b"])

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(transport.requests.map(\.url.text).last == "http://other.test/b")
        #expect(answer.context.redirects.map(\.to.text) == ["http://other.test/b"])
    }

    @Test func `a custom Host header is sent to its own origin only`() async throws {
        let (client, transport) = try Self.client(["/v1/a": "b", "/v1/b": "http://other.test/"])
        var configuration = APIConfiguration(path: "a")
        configuration.headers = ["Host": "inner.test"]

        _ = try await client.send(configuration)

        #expect(transport.requests.map { $0.headers["Host"] } == ["inner.test", "inner.test", nil])
    }

    @Test func `a failure at another origin does not count against the redirecting server`() async throws {
        let (client, _) = try NetworkClient.stubbed(servers: 2, options: { _ in }) { request in
            request.server == "other"
                ? .failure(.connectionRefused) : .status(302, headers: ["Location": "http://other.test/"])
        }

        for _ in 0..<60 { _ = await client.failure(of: APIConfiguration(path: "a")) }

        #expect(client.currentServer == "primary")
        #expect(client.servers.allSatisfy { $0.statistics.failures == 0 })
    }

    @Test func `a request that is redirected before send returns can be cancelled at the redirect target`() async throws
    {
        let transport = StubTransport(completion: .inline) { request in
            request.url.path == "/v1/a" ? .status(302, headers: ["Location": "b"]) : .never
        }
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport)
        let id = RequestID()

        let call = Task { await client.failure(of: APIConfiguration(path: "a"), id: id) }
        await transport.waitForRequests(2)
        client.cancel(id)

        #expect(await call.value == .cancelled)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `a redirect between two real servers is followed`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/a", answering: LoopbackResponse(status: 302, headers: ["Location": "/b"]))
        server.route(.get, "/b", answering: .text("there"))
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: .loopback([server]), environment: .test)

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(answer.text == "there")
        client.shutdown()
    }

    @Test func `a prebuiltRequest keeps its own cookies after a redirect to the same origin`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.generator.cookies = CookieJar()
        }) { request in
            request.url.path == "/b" ? .status(200) : .status(302, headers: ["Location": "/b"])
        }
        var configuration = APIConfiguration()
        let url = try RequestURL(validating: "http://primary.test/a")
        configuration.prebuiltRequest = HTTPRequest(url: url, headers: ["Cookie": "own=1"])

        _ = try await client.send(configuration)

        #expect(transport.requests.map { $0.headers["Cookie"] } == ["own=1", "own=1"])
    }
}

/// Returns one string.
private final class StringReader: HTTPBodyReader {
    private let rest: Locked<Data?>

    init(_ text: String) {
        rest = Locked(Data(text.utf8))
    }

    func read(maximumLength: Int) async throws -> Data? {
        rest.withLock { rest in
            defer { rest = nil }
            return rest
        }
    }
}
