import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Redirects of one server to another server of the service.
@Suite(.timeLimit(.minutes(5)), .prompt)
final class RedirectToServerTests {
    private let servers = (0..<3).map { _ in LoopbackServer() }
    private let client: NetworkClient

    init() throws {
        for server in servers { try server.start() }
        client = try NetworkClient(service: .loopback(servers), environment: .test)
        servers[2].route(.get, "/a", answering: .text("tertiary"))
    }

    deinit {
        client.shutdown()
        for server in servers { server.stop() }
    }

    /// Makes the first server redirect `/a` to the second server.
    private func redirect(_ method: HTTPMethod = .get, status: Int = 302) {
        let headers: HTTPHeaders = ["Location": "\(servers[1].baseURL)/a"]
        servers[0].route(method, "/a", answering: LoopbackResponse(status: status, headers: headers))
    }

    @Test func `a request that is redirected to a dead server of the service goes to another server`() async throws {
        redirect()
        servers[1].stop()

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(answer.text == "tertiary")
        #expect(answer.context.server == "tertiary")
        #expect(answer.context.redirects.isEmpty)
    }

    @Test func `a request that is redirected to a failing server of the service goes to another server`() async throws {
        redirect()
        servers[1].route(.get, "/a", answering: LoopbackResponse(status: 502))

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(answer.text == "tertiary")
    }

    @Test func `a request that is redirected to a failing server tries that server last`() async throws {
        var policy = SwitchPolicy.recommended
        policy.maximumAttempts = 2
        let client = try NetworkClient(service: .loopback(servers, switching: policy), environment: .test)
        defer { client.shutdown() }
        redirect()
        servers[1].route(.get, "/a", answering: LoopbackResponse(status: 502))

        let answer = try await client.send(APIConfiguration(path: "a"))

        #expect(answer.text == "tertiary")
        #expect(servers[1].requests.count == 1)
    }

    @Test func `every request is answered while a server redirects to a dead server of the service`() async throws {
        redirect()
        servers[1].stop()

        var failures = 0
        for _ in 0..<100 where await client.failure(of: APIConfiguration(path: "a")) != nil { failures += 1 }

        #expect(failures == 0)
        #expect(servers[0].requests.count < 100)
    }

    @Test func `every request is answered while a server redirects to a hanging server of the service`() async throws {
        var policy = SwitchPolicy.recommended
        policy.hedging?.unknown = .milliseconds(20)
        policy.hedging?.shortest = .milliseconds(20)
        let client = try NetworkClient(service: .loopback(servers, switching: policy), environment: .test)
        defer { client.shutdown() }
        redirect()
        servers[1].fault = .hang

        var failures = 0
        for _ in 0..<40 {
            let call = APIConfiguration(path: "a", timeout: .seconds(2))
            if await client.failure(of: call) != nil { failures += 1 }
        }

        #expect(failures == 0)
        #expect(servers[0].requests.count < 40)
    }

    @Test(arguments: [302, 307])
    func `a POST that is redirected to a dead server of the service goes to no other server`(status: Int) async throws {
        redirect(.post, status: status)
        servers[1].stop()
        servers[2].route(.post, "/a", answering: .text("tertiary"))

        let result = await client.result(of: APIConfiguration(path: "a", method: .post, body: .text("write")))

        guard case .failure(let failure) = result else {
            Issue.record("the write must fail")
            return
        }
        #expect(failure.mayHaveBeenExecuted)
        #expect(!servers[2].requests.contains { $0.method == .post })
    }

    @Test(arguments: [false, true])
    func `a PUT that a 308 redirects goes to another server only if the target has not received it`(
        isReceived: Bool
    ) async throws {
        redirect(.put, status: 308)
        servers[1].fault = isReceived ? .resetBeforeHead : .refuse
        servers[2].route(.put, "/a", answering: .text("tertiary"))

        let result = await client.result(of: APIConfiguration(path: "a", method: .put, body: .text("write")))

        #expect(((try? result.get()) == nil) == isReceived)
        #expect(servers[2].requests.contains { $0.method == .put } != isReceived)
    }
}
