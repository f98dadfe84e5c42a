import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A first server that hangs and a second one that responds with 4xx.
///
/// The 4xx waits for the first server and does not count against it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HungFirstServerTests {
    private let first = LoopbackServer()
    private let second = LoopbackServer()

    /// A client that hedges early and therefore probes early.
    private func client(
        _ change: (inout NetworkClient.Options) -> Void = { _ in }
    ) throws -> NetworkClient {
        var policy = SwitchPolicy.recommended
        policy.hedging?.unknown = .milliseconds(20)
        policy.hedging?.shortest = .milliseconds(20)
        for server in [first, second] { try server.start() }
        return try NetworkClient(service: .loopback([first, second], switching: policy), configure: change)
    }

    private func serve(_ response: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse) {
        for server in [first, second] { server.route(.get, "/list") { response($0) } }
    }

    @Test(arguments: [401, 403, 404])
    func `a first server that hangs is ejected from rotation, and a 4xx is returned before the deadline`(status: Int)
        async throws
    {
        let client = try client()
        serve { _ in .status(status) }
        first.fault = .hang

        let answer = try await client.send(APIConfiguration(path: "list", timeout: .seconds(60)))

        #expect(answer.status == status)
        #expect(answer.context.elapsed < .seconds(30))
        #expect(client.servers[0].state == .ejected)
    }

    @Test func `an expired token is refreshed while the first server hangs`() async throws {
        let credentials = Credentials { _ in .bearer("new") }
        let client = try client { $0.credentials = credentials }
        credentials.set(.bearer("old"), in: client.environment)
        serve { .status($0.headers["Authorization"] == "Bearer new" ? 200 : 401) }
        first.fault = .hang

        let answer = try await client.send(APIConfiguration(path: "list", timeout: .seconds(60)))

        #expect(answer.status == 200)
        #expect(answer.context.server == "secondary")
    }

    @Test func `the first server stays healthy if its base URL responds slowly too`() async throws {
        let client = try client()
        serve { _ in .status(404) }
        first.setFault(.hang, on: "/list")
        first.setFault(.slow(by: .milliseconds(400)), on: "/")
        first.route(.get, "/", answering: .status(200))
        second.route(.get, "/", answering: .status(404))

        let answer = try await client.send(APIConfiguration(path: "list", timeout: .seconds(2)))

        #expect(answer.status == 404)
        #expect(client.servers[0].state == .healthy)
    }

    @Test func `the first server stays healthy if it hangs only for this request`() async throws {
        let client = try client()
        serve { _ in .status(404) }
        first.setFault(.hang, on: "/list")
        first.route(.get, "/", answering: .status(200))
        second.route(.get, "/", answering: .status(200))

        let answer = try await client.send(APIConfiguration(path: "list", timeout: .seconds(2)))

        #expect(answer.status == 404)
        #expect(client.servers[0].state == .healthy)
        #expect(first.requests.contains { $0.target == "/" })
    }
}
