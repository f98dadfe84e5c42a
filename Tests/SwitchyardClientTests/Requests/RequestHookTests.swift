import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Closures that take part in building a request.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestHookTests {
    @Test func `the URL rule can be replaced for a service or for one call`() throws {
        let byName: URLRule = { base, configuration in
            RequestURL("\(base.origin)/gateway/\(configuration.path.uppercased())")
        }
        var configuration = APIConfiguration(path: "list", query: ["a": 1], headers: ["X": "1"])
        func url() throws -> String {
            try BuiltRequest.request(configuration) {
                $0.urlRule = byName
                $0.common.parameters = ["c": 2]
            }.url.text
        }

        #expect(try url() == "https://api.example.com/gateway/LIST?a=1&c=2")
        configuration.urlRule = { _, _ in nil }
        #expect(try url() == "https://api.example.com/v1/list?a=1&c=2")
        configuration.urlRule = { _, _ in RequestURL("https://other.example/own") }
        #expect(try url() == "https://other.example/own?a=1")
    }

    // The parameters that a transform adds are present during validation.
    @Test func `parameters can be validated, and transforms run before the validation`() throws {
        struct Missing: Error {}
        let configuration = APIConfiguration(path: "x", query: ["a": 1])
        func build(_ change: (inout RequestGenerator) -> Void) -> RequestError? {
            BuiltRequest.failure(configuration) { generator in
                generator.validation = { if $0.query["token"] == nil { throw Missing() } }
                change(&generator)
            }
        }

        #expect(build { _ in } == .hook(stage: "validation", message: "Missing()"))
        #expect(build { $0.transforms = [{ $0.query["token"] = "t" }] } == nil)
        #expect(build { $0.transforms = [{ _ in throw Missing() }] } == .hook(stage: "reformer", message: "Missing()"))
    }

    // Its own error, and no network access.
    @Test func `a request with rejected parameters is not sent`() async throws {
        struct TooShort: Error {}
        let transport = StubTransport { _ in .status(200) }
        let client = try NetworkClient(service: .topics(), transport: transport) { options in
            options.generator.validation = { if $0.query["q"] == nil { throw TooShort() } }
        }

        let reason = await client.failure(of: APIConfiguration(path: "search"))

        #expect(reason == .invalidRequest(.hook(stage: "validation", message: "TooShort()")))
        #expect(transport.requestCount == 0)
    }

    @Test func `a request waits for an interceptor's asynchronous operation and fails if that operation throws`()
        async throws
    {
        struct Locked: Error {}
        let transport = StubTransport { _ in .status(200) }
        let client = try NetworkClient(service: .topics(), transport: transport) { options in
            options.interceptors = [
                .adapting("vault") { configuration, _ in
                    await Task.yield()
                    guard configuration.path != "secret" else { throw Locked() }
                    configuration.headers["X-Token"] = "t"
                }
            ]
        }

        _ = try await client.send(APIConfiguration(path: "open"))
        let reason = await client.failure(of: APIConfiguration(path: "secret"))

        #expect(transport.requests.map { $0.headers["X-Token"] } == ["t"])
        #expect(reason == .vetoed(InterceptorError(name: "vault", underlying: Locked())))
    }

    // A failure that the service handles still ends the call once and names the handler.
    @Test func `an interceptor can end a call that received a 401 with an error of its own`() async throws {
        struct SignedOut: Error {}
        let signOuts = SwitchyardServices.Locked(0)
        let transport = StubTransport { request in .status(request.url.path.hasSuffix("mine") ? 401 : 404) }
        let client = try NetworkClient(service: .topics(), transport: transport) { options in
            options.interceptors = [
                .retrying("session") { round in
                    guard round.status == 401 else { return .undecided }
                    signOuts.withLock { $0 += 1 }
                    return .fail(SignedOut())
                }
            ]
        }

        let reason = await client.failure(of: APIConfiguration(path: "mine"))
        let other = try await client.send(APIConfiguration(path: "other"))

        #expect(reason == .vetoed(InterceptorError(name: "session", underlying: SignedOut())))
        #expect(signOuts.withLock { $0 } == 1)
        #expect(other.status == 404)
        #expect(client.activeRequests.isEmpty)
    }

    @Test func `the JSON encoder can be set for all calls and for one call`() throws {
        struct Topic: Encodable, Sendable { var topicTitle = "x" }
        let snake = JSONEncoder()
        snake.keyEncodingStrategy = .convertToSnakeCase
        func text(_ body: RequestBody) throws -> String {
            let configuration = APIConfiguration(method: .post, body: body)
            return BuiltRequest.text(
                try BuiltRequest.request(configuration) { $0.jsonEncoder = snake }.body
            )
        }

        #expect(try text(.json(Topic())) == #"{"topic_title":"x"}"#)
        #expect(try text(.json(Topic(), encoder: JSONEncoder())) == #"{"topicTitle":"x"}"#)
    }

    @Test func `a custom request body is sent unchanged`() throws {
        struct Full: Error {}
        let packed = RequestCompressor.compressed(Data("hello".utf8), .gzip)
        let own = RequestBody.custom(contentType: "text/plain") { .data(packed) }

        let request = try BuiltRequest.request(
            APIConfiguration(method: .post, body: own, headers: [.contentEncoding("gzip")])
        )

        guard case .data(let data) = request.body else { return #expect(Bool(false)) }
        #expect(data == packed)
        #expect(request.headers["Content-Type"] == "text/plain")
        let failing = RequestBody.custom(contentType: nil) { throw Full() }
        #expect(
            BuiltRequest.failure(APIConfiguration(method: .post, body: failing))
                == .hook(stage: "custom body", message: "Full()")
        )
    }

    // Computed values are computed for each call.
    @Test func `a common header may depend on the call and on the time`() async throws {
        let count = Locked(0)
        let (client, transport) = try NetworkClient.stubbed(
            generator: {
                $0.common.computedHeaders = { configuration in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return ["X-Call": "\(configuration.path)-\(number)"]
                }
            }
        )

        _ = try await client.send(APIConfiguration(path: "a"))
        _ = try await client.send(APIConfiguration(path: "b"))

        // On a busy machine a hedge may go to a second server, which is another call of the closure.
        let calls = transport.requests.compactMap { $0.headers["X-Call"] }
        #expect(calls.first == "a-1")
        #expect(calls.contains { $0.hasPrefix("b-") })
        #expect(Set(calls).count == calls.count)
    }
}
