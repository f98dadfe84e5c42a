import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt)
struct DigestAuthenticationTests {
    private static func challenge(_ algorithm: String, _ more: String = "qop=\"auth, auth-int\"") -> String {
        """
        Digest realm="http-auth@example.org", \(more), algorithm=\(algorithm), \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    }

    // The examples of RFC 7616 section 3.9.1.
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `Digest credentials match the examples of RFC 7616`(algorithm: String, response: String) throws {
        let headers: HTTPHeaders = ["WWW-Authenticate": Self.challenge(algorithm)]
        let answer = try #require(DigestResponse.best(of: AuthenticationChallenge.all(in: headers)))
        let url = try #require(RequestURL("http://www.example.org/dir/index.html"))

        let field = try answer.field(
            user: "Mufasa",
            password: "Circle of Life",
            request: HTTPRequest(url: url),
            count: 1,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        )

        #expect(field.contains("response=\"\(response)\""))
        #expect(field.contains("uri=\"/dir/index.html\""))
        #expect(field.contains("nc=00000001, qop=auth"))
    }

    @Test func `a Digest credential matches the example of RFC 2069 and has no cnonce`() throws {
        let text = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        let answer = try #require(DigestResponse.best(of: AuthenticationChallenge.all(in: ["WWW-Authenticate": text])))
        let url = try #require(RequestURL("http://host.com/dir/index.html"))

        let field = try answer.field(
            user: "Mufasa",
            password: "CircleOfLife",
            request: HTTPRequest(url: url),
            count: 1,
            clientNonce: "x"
        )

        // The corrected value is in erratum 749 of RFC 2617.
        #expect(field.contains("response=\"1949323746fe6a43ef61f9606e7febea\""))
        #expect(!field.contains("cnonce"))
    }

    // RFC 7616 section 3.4: the algorithm must be the one that the challenge supplies.
    @Test(arguments: [("", false), (", algorithm=md5", true), (", algorithm=\"MD5\"", true)])
    func `a Digest credential names the algorithm if the challenge names it`(parameter: String, isNamed: Bool) throws {
        let headers: HTTPHeaders = ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth\(parameter)"]
        let answer = try #require(DigestResponse.best(of: AuthenticationChallenge.all(in: headers)))
        let request = HTTPRequest(url: try #require(RequestURL("http://x.test/")))

        let field = try answer.field(user: "u", password: "p", request: request, count: 1, clientNonce: "c")

        #expect(field.contains("algorithm=MD5") == isNamed)
    }

    // RFC 7616 section 4: the user's input is normalized to Unicode's form C.
    @Test func `user name and password are normalized to NFC if the server accepts UTF-8`() throws {
        let headers: HTTPHeaders = ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth, charset=UTF-8"]
        let answer = try #require(DigestResponse.best(of: AuthenticationChallenge.all(in: headers)))
        let request = HTTPRequest(url: try #require(RequestURL("http://x.test/")))

        let fields = try [("J\u{e4}son", "p\u{e9}"), ("Ja\u{308}son", "pe\u{301}")].map { user, password in
            try answer.field(user: user, password: password, request: request, count: 1, clientNonce: "c")
        }

        // Compared as bytes, because Swift treats canonically equivalent strings as equal and a server does not.
        #expect(Array(fields[0].utf8) == Array(fields[1].utf8))
    }

    @Test func `the challenge with the stronger algorithm is chosen`() throws {
        var headers: HTTPHeaders = ["WWW-Authenticate": Self.challenge("MD5")]
        headers.add("WWW-Authenticate", Self.challenge("SHA-256"))

        #expect(DigestResponse.best(of: AuthenticationChallenge.all(in: headers))?.algorithm == .sha256)
    }

    @Test func `several challenges in one WWW-Authenticate field are parsed separately`() {
        let headers: HTTPHeaders = [
            "WWW-Authenticate": "Negotiate, Basic realm=\"a, b\", Digest realm=c,nonce=\"d\\\"e\""
        ]

        let challenges = AuthenticationChallenge.all(in: headers)

        #expect(challenges.map(\.scheme) == ["negotiate", "basic", "digest"])
        #expect(challenges.map(\.realm) == [nil, "a, b", "c"])
        #expect(challenges.last?.parameters["nonce"] == "d\"e")
    }

    @Test(arguments: ["YIIB/+-._~==", "YIIB=", "YIIB"])
    func `a challenge that follows a challenge in token68 form is not lost`(token: String) {
        let headers: HTTPHeaders = ["WWW-Authenticate": "Negotiate \(token), Digest realm=r, nonce=n"]

        let challenges = AuthenticationChallenge.all(in: headers)

        #expect(challenges.map(\.scheme) == ["negotiate", "digest"])
        #expect(challenges.last?.parameters == ["realm": "r", "nonce": "n"])
    }

    @Test func `later requests use a known Digest challenge without another 401`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
        }) { request in
            request.headers["Authorization"] == nil
                ? .status(401, headers: ["WWW-Authenticate": Self.challenge("SHA-256")]) : .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "x"))
        _ = try await client.send(APIConfiguration(path: "y", query: ["a": 1]))

        let fields = transport.requests.compactMap { $0.headers["Authorization"] }
        #expect(transport.requestCount == 3)
        #expect(fields.map { $0.contains("nc=00000001") } == [true, false])
        #expect(fields.last?.contains("nc=00000002") ?? false)
        #expect(fields.last?.contains("uri=\"/v1/y?a=1\"") ?? false)
    }

    // RFC 7616 sections 3.4.3 and 3.4.6: the digest covers the URI of the request line and the body as sent.
    @Test(arguments: ["auth", "auth-int"])
    func `an HTTP Digest response covers the request after all modifiers have changed it`(protection: String)
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
            $0.generator.modifiers = [
                RequestCompressor(.gzip).compress, RequestSigner(.md5(secret: "s"), in: .query("sign")).sign,
            ]
        }) { request in
            let challenge = "Digest realm=r, nonce=n, qop=\(protection)"
            return request.headers["Authorization"] == nil
                ? .status(401, headers: ["WWW-Authenticate": challenge]) : .status(200)
        }
        let text = String(repeating: "a", count: 2_000)

        _ = try await client.send(APIConfiguration(path: "x", method: .put, body: .text(text)))

        let sent = try #require(transport.requests.last)
        let field = try #require(sent.headers["Authorization"])
        let parts = try #require(AuthenticationChallenge.all(in: ["WWW-Authenticate": field]).first?.parameters)
        let hash = { (text: String) in DigestResponse.Algorithm.md5.hash(text) }
        let uri = "\(sent.url.path)?\(sent.url.query ?? "")"
        var target = "PUT:\(uri)"
        if protection == "auth-int" {
            target += ":\(MessageDigest.md5(try await sent.body.collected(upTo: 9_999)).hexText)"
        }
        let rest = "n:00000001:\(parts["cnonce"] ?? ""):\(protection)"
        #expect(parts["uri"] == uri)
        #expect(parts["response"] == hash("\(hash("u:r:p")):\(rest):\(hash(target))"))
    }

    // RFC 7616 section 3.4.2: the session key is computed with the client nonce of the first request and then kept.
    @Test(arguments: [DigestResponse.Algorithm.md5Session, .sha256Session])
    func `a Digest session key keeps the client nonce of the first request`(algorithm: DigestResponse.Algorithm)
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
        }) { request in
            let challenge = "Digest realm=r, nonce=n, qop=auth, algorithm=\(algorithm.rawValue)"
            return request.headers["Authorization"] == nil
                ? .status(401, headers: ["WWW-Authenticate": challenge]) : .status(200)
        }

        for _ in 0..<2 { _ = try await client.send(APIConfiguration(path: "x")) }

        let answers = transport.requests.compactMap { $0.headers["Authorization"] }
            .compactMap { AuthenticationChallenge.all(in: ["WWW-Authenticate": $0]).first?.parameters }
        let first = try #require(answers.first?["cnonce"])
        let last = try #require(answers.last)
        let key = algorithm.hash("\(algorithm.hash("u:r:p")):n:\(first)")
        let target = algorithm.hash("GET:\(last["uri"] ?? "")")
        #expect(last["response"] == algorithm.hash("\(key):n:00000002:\(last["cnonce"] ?? ""):auth:\(target)"))
    }

    @Test func `the client responds to the challenge of each server separately, even within one request`() async throws
    {
        var policy = SwitchPolicy.recommended
        policy.selection = .roundRobin
        let transport = StubTransport { request in
            let isAnswered = request.headers["Authorization"]?.contains("nonce=\"\(request.server)\"") ?? false
            let challenge = "Digest realm=r, qop=auth, nonce=\(request.server)"
            return isAnswered ? .status(200) : .status(401, headers: ["WWW-Authenticate": challenge])
        }
        var options = NetworkClient.Options(seed: 1)
        options.credentials = Credentials(.digest(user: "u", password: "p"))
        let service = try Service.topics(switching: policy)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: ManualClock())

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
        let servers = transport.requests.map(\.server)
        #expect(Set(servers.prefix(3)) == ["primary", "secondary", "tertiary"])
        #expect(servers.count == 4 && servers.last == servers.first)
    }

    @Test func `the client does not respond to a challenge from another origin after a redirect`() async throws {
        var configuration = APIConfiguration(path: "x")
        configuration.credential = .digest(user: "u", password: "p")
        let number = Locked(0)
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { request in
            guard request.server == "primary" else {
                return .status(401, headers: ["WWW-Authenticate": "Digest realm=r, qop=auth, nonce=n"])
            }
            let next = number.withLock { number in
                number += 1
                return number
            }
            return .status(302, headers: ["Location": "http://other\(next).test/"])
        }

        #expect(try await client.send(configuration).status == 401)
        #expect(transport.requestCount == 2)
    }

    @Test func `a wrong Digest password is rejected once and not tried again`() async throws {
        var configuration = APIConfiguration(path: "x")
        configuration.credential = .digest(user: "u", password: "wrong")
        let number = Locked(0)
        let (client, transport) = try NetworkClient.stubbed(options: { _ in }) { _ in
            let nonce = number.withLock { number in
                number += 1
                return number
            }
            return .status(401, headers: ["WWW-Authenticate": "Digest realm=r, qop=auth, nonce=n\(nonce)"])
        }

        let answer = try await client.send(configuration)

        #expect(answer.status == 401)
        #expect(transport.requestCount == 2)
    }

    @Test func `a stale Digest nonce is replaced, and the request succeeds`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
        }) { request in
            let field = request.headers["Authorization"] ?? ""
            if field.contains("nonce=\"new\"") { return .status(200) }
            let stale = field.isEmpty ? "nonce=old" : "nonce=new, stale=TRUE"
            return .status(401, headers: ["WWW-Authenticate": "Digest realm=r, qop=auth, \(stale)"])
        }

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
        #expect(transport.requestCount == 3)
    }

    @Test func `the error names the unsupported authentication schemes`() async throws {
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
        }) { _ in .status(401, headers: ["WWW-Authenticate": "NTLM, Negotiate"]) }

        let reason = await client.failure(of: APIConfiguration(path: "x"))

        #expect(reason == .credentials(.unsupportedScheme(["ntlm", "negotiate"])))
    }

    @Test func `a provider receives the challenges of the service`() async throws {
        let seen = Locked<[AuthenticationChallenge]>([])
        let credentials = Credentials { refresh in
            seen.withLock { $0 = refresh.challenges }
            return nil
        }
        credentials.set(.bearer("t"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = credentials
        }) { _ in .status(401, headers: ["WWW-Authenticate": "Bearer realm=\"api\", error=\"invalid_token\""]) }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.status == 401)
        #expect(transport.requestCount == 1)
        #expect(seen.withLock { $0 }.first?.parameters["error"] == "invalid_token")
    }
}
