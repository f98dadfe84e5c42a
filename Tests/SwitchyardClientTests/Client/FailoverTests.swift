import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct FailoverTests {
    private static let retryable: [StubResponse] = [
        .failure(.connectionRefused), .failure(.connectTimeout), .failure(.timeout), .failure(.connectionReset),
        .failure(.truncated), .failure(.protocolViolation), .failure(.tlsFailure), .failure(.dnsFailure),
        .status(500), .status(502), .status(503), .status(504),
    ]

    @Test(arguments: retryable.indices)
    func `a read that fails at one server succeeds at the next in the same call`(_ index: Int) async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.server == "primary" ? Self.retryable[index] : .status(200)
        }

        let response = try await client.send(APIConfiguration(path: "list"))

        #expect(response.status == 200)
        #expect(response.context.server == "secondary")
        #expect(response.context.attempts == 2)
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
    }

    // RFC 9110 section 15.5.20.
    @Test(arguments: [HTTPMethod.get, .post])
    func `a 421 sends the request to the next server whatever its method`(method: HTTPMethod) async throws {
        let (client, transport) = try NetworkClient.stubbed { .status($0.server == "primary" ? 421 : 200) }

        let response = try await client.send(APIConfiguration(path: "list", method: method))

        #expect(response.status == 200)
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
    }

    // A server on this machine or in the local network can be reached without a network connection.
    @Test(arguments: [HTTPMethod.get, .post])
    func `an offline failure sends the request to the next server and does not count against a server`(
        method: HTTPMethod
    ) async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .failure(.offline) : .status(200)
        }

        for _ in 0..<20 {
            let response = try await client.send(APIConfiguration(path: "list", method: method))
            #expect(response.context.server == "secondary")
        }

        let tried = transport.requests.map(\.server)
        #expect(tried == Array(repeating: ["primary", "secondary"], count: 20).flatMap(\.self))
    }

    @Test func `a request does not fail over if its redirect to another origin fails as offline`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.url.text.hasPrefix("http://elsewhere")
                ? .failure(.offline) : .status(302, headers: ["Location": "http://elsewhere.test/"])
        }

        let failure = await client.failure(of: APIConfiguration(path: "list"))

        guard case .transport(let error)? = failure else {
            Issue.record("unexpected result: \(failure as Any)")
            return
        }
        #expect(error.kind == .offline)
        #expect(transport.requests.map(\.server) == ["primary", "elsewhere"])
    }

    @Test func `an attempt has no total timeout, because the request's deadline covers all attempts`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { request in
            switch request.server {
            case "primary": .failure(.connectionReset)
            default: request.url.text.hasSuffix("next") ? .status(200) : .status(302, headers: ["Location": "next"])
            }
        }

        let response = try await client.send(APIConfiguration(path: "list", timeout: .seconds(5)))

        #expect(response.status == 200)
        #expect(transport.requests.map(\.server) == ["primary", "secondary", "secondary"])
        #expect(transport.requests.allSatisfy { $0.timeouts.total == nil })
    }

    @Test func `a warm-up request has the probe timeout instead of the request's timeout`() async throws {
        let time = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(time: time) { _ in .status(200) }
        let configuration = APIConfiguration(path: "list", timeout: .seconds(5))
        _ = try await client.send(configuration)
        time.advance(by: .seconds(3600))

        _ = try await client.send(configuration)

        #expect(await transport.waitForRequests(3))
        let probe = try #require(transport.requests.first { $0.server == "secondary" })
        #expect(probe.timeouts.total == NetworkClient.Options().probeTimeout)
    }

    @Test(arguments: [400, 401, 403, 404, 409, 422, 301, 204])
    func `a response that is no server failure is returned unchanged`(_ status: Int) async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(status) }

        let response = try await client.send(APIConfiguration(path: "list"))

        #expect(response.status == status)
        #expect(transport.requestCount == 1)
    }

    @Test func `a write that may have been sent is never sent twice`() async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.method == .post ? .failure(TransportError(.connectionReset, message: "reset")) : .status(200)
        }

        let reason = await client.failure(of: APIConfiguration(path: "list", method: .post))

        #expect(transport.requests.count { $0.method == .post } == 1)
        guard case .transport(let error) = reason else {
            Issue.record("expected a transport error, got \(String(describing: reason))")
            return
        }
        #expect(error.kind == .connectionReset)
    }

    @Test func `a write that was certainly not sent goes to the next server`() async throws {
        let (client, _) = try NetworkClient.stubbed { request in
            guard request.server == "primary" else { return .status(201) }
            return .failure(TransportError(.connectionRefused, message: "refused", mayHaveBeenSent: false))
        }

        let response = try await client.send(APIConfiguration(path: "list", method: .post))

        #expect(response.status == 201)
        #expect(response.context.server == "secondary")
    }

    @Test func `a write with an idempotency key goes to the next server with the same key`() async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .failure(.connectionReset) : .status(201)
        }
        var configuration = APIConfiguration(path: "list", method: .post)
        configuration.idempotencyKey = .automatic

        let response = try await client.send(configuration)

        #expect(response.status == 201)
        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 2)
        #expect(keys[0] != nil && keys[0] == keys[1])
    }

    @Test func `a request returns its error response rather than a later connection failure`() async throws {
        let (client, _) = try NetworkClient.stubbed { request in
            request.server == "secondary" ? .status(503) : .failure(.connectionReset)
        }

        let response = try await client.send(APIConfiguration(path: "list"))

        #expect(response.status == 503)
        #expect(response.context.attempts == 3)
    }

    @Test func `the context of the returned error response names the server that sent the response`() async throws {
        let (client, _) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .status(503) : .failure(.connectionReset)
        }

        let response = try await client.send(APIConfiguration(path: "list"))

        #expect(response.status == 503)
        #expect(response.context.server == "primary")
        #expect(response.context.url?.text == "http://primary.test/v1/list")
        #expect(response.context.attempts == 3)
    }

    @Test func `if a server refuses 40 active reads at the same time, all of them fail over`() async throws {
        let time = ManualClock()
        let transport = StubTransport(completion: .inline) { request in
            let isDead = request.server == "primary"
            return .delayed(by: .milliseconds(20), on: time, isDead ? .failure(.connectionRefused) : .status(200))
        }
        let service = try Service.topics()
        let client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: time)
        let (statuses, continuation) = AsyncStream.makeStream(of: Int?.self)
        for _ in 0..<40 {
            client.send(APIConfiguration(path: "list"), on: .global()) { continuation.yield(try? $0.get().status) }
        }

        time.advance(by: .milliseconds(40))

        for await status in statuses.prefix(40) { #expect(status == 200) }
        #expect(transport.requests.map(\.server).count { $0 == "primary" } == 40)
        #expect(transport.requestCount == 80)
    }

    @Test func `the failure of a request names the server that failed last`() async throws {
        let time = ManualClock()
        let transport = StubTransport(completion: .inline) { request in
            .delayed(by: .seconds(request.server == "primary" ? 2 : 1), on: time, .failure(.connectionReset))
        }
        let service = try Service.topics(servers: 2)
        let client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: time)
        let (failures, continuation) = AsyncStream.makeStream(of: RequestFailure?.self)
        client.send(APIConfiguration(path: "list"), on: .global()) { result in
            if case .failure(let failure) = result { continuation.yield(failure) } else { continuation.yield(nil) }
        }

        time.advance(by: .seconds(3))

        let failure = try #require(await failures.first { _ in true })
        #expect(failure?.context.attempts == 2)
        #expect(failure?.context.server == "primary")
    }

    @Test func `the first attempt continues if the request of its hedge cannot be built`() async throws {
        let time = ManualClock()
        let transport = StubTransport(completion: .inline) { _ in .delayed(by: .seconds(2), on: time, .status(200)) }
        let built = Locked(0)
        var options = NetworkClient.Options(seed: 1)
        options.generator.pathFilters = [
            PathFilter { path, _ in
                let count = built.withLock { built in
                    built += 1
                    return built
                }
                if count > 1 { throw RequestError.hook(stage: "path filter", message: "the keychain is locked") }
                return path
            }
        ]
        let client = try NetworkClient(service: .topics(), transport: transport, options: options, time: time)
        let (answers, continuation) = AsyncStream.makeStream(of: Int?.self)
        client.send(APIConfiguration(path: "list"), on: .global()) { continuation.yield(try? $0.get().status) }

        time.advance(by: .seconds(2))

        #expect(await answers.first { _ in true } == 200)
        #expect(transport.requestCount == 1)
    }

    @Test func `all attempts of a request share one identifier`() async throws {
        let (client, _) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .status(500) : .status(200)
        }
        let id = RequestID()

        let response = try await client.send(APIConfiguration(path: "list"), id: id)

        #expect(response.id == id)
    }

    @Test func `a cancel during failover ends the request once`() async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .status(500) : .never
        }
        let id = RequestID()
        let failure = Task { await client.failure(of: APIConfiguration(path: "list"), id: id) }
        #expect(await transport.waitForRequests(2))

        client.cancel(id)

        #expect(await failure.value == .cancelled)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `a cancelled request does not count against a server`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        for number in 1...50 {
            let id = RequestID()
            let failure = Task { await client.failure(of: APIConfiguration(path: "list"), id: id) }
            #expect(await transport.waitForRequests(number))
            client.cancel(id)
            #expect(await failure.value == .cancelled)
        }

        #expect(client.currentServer == "primary")
        #expect(client.servers.allSatisfy { $0.statistics.failures == 0 })
    }

    @Test func `a failed upload counts against its servers like any other failed request`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(500) }
        let body = RequestBody.data(Data(count: 1 << 20), contentType: "application/octet-stream")

        _ = try await client.send(APIConfiguration(path: "files", method: .put, body: body))

        #expect(client.servers.map(\.statistics.requests) == [1, 1, 1])
    }

    @Test func `changing a configuration after the dispatch does not change the request`() async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.server == "primary" ? .status(500) : .status(200)
        }
        var configuration = APIConfiguration(path: "before")

        let status: Int = try await withCheckedThrowingContinuation { continuation in
            client.send(configuration, on: .global()) { result in continuation.resume(with: result.map(\.status)) }
            configuration.path = "after"
        }

        #expect(status == 200)
        #expect(transport.requests.allSatisfy { $0.url.text.hasSuffix("/v1/before") })
    }

    @Test func `a request to a foreign URL is sent once and does not affect the health of a server`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(500) }

        let response = try await client.send(APIConfiguration(path: "https://elsewhere.example/list"))

        #expect(response.status == 500)
        #expect(response.context.server == nil)
        #expect(transport.requests.map(\.url.text) == ["https://elsewhere.example/list"])
        #expect(client.servers.allSatisfy { $0.statistics.requests == 0 })
    }

    @Test func `a request to a named server is sent to that server only`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(500) }
        var configuration = APIConfiguration(path: "list")
        configuration.server = .named("tertiary")

        let response = try await client.send(configuration)

        #expect(response.status == 500)
        #expect(transport.requests.map(\.server) == ["tertiary"])
    }

    @Test func `a request to an unknown server fails before it is sent`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }
        var configuration = APIConfiguration(path: "list")
        configuration.server = .named("nobody")

        #expect(await client.failure(of: configuration) == .unknownServer("nobody"))
        #expect(transport.requestCount == 0)
    }

    @Test func `an active request fails over only to a server that it has not tried, even after replaceServers`()
        async throws
    {
        let clock = ManualClock()
        let isFirst = Locked(true)
        let failure = StubResponse.failure(.connectionReset)
        let (client, transport) = try NetworkClient.stubbed(servers: 2, time: clock) { request in
            guard request.server == "primary" else { return .status(200) }
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return waits ? .delayed(by: .milliseconds(100), on: clock, failure) : failure
        }
        let call = Task { await client.failure(of: APIConfiguration(path: "list")) }
        #expect(await transport.waitForRequests(1))

        try client.replaceServers(client.service.servers.reversed())
        clock.advance(by: .milliseconds(100))

        #expect(await call.value == nil)
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
    }

    @Test func `if the request to the next server cannot be built, the call gets the response of the first server`()
        async throws
    {
        struct Refusal: Error {}
        let (client, transport) = try NetworkClient.stubbed(
            servers: 2,
            options: {
                $0.generator.modifiers = [{ if $0.server == "secondary" { throw Refusal() } }]
            }
        ) { _ in
            .status(503)
        }
        var call = APIConfiguration(path: "list")
        call.retry = .never

        let result = await client.result(of: call)

        #expect(try result.get().status == 503)
        #expect(transport.requests.map(\.server) == ["primary"])
    }
}
