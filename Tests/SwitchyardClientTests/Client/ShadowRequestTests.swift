import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Probes and suspicion probes are harmless requests (rule 4 of a request's life).
@Suite(.timeLimit(.minutes(5)), .prompt) struct ShadowRequestTests {
    /// A client whose first server resets every connection while `isDown` is true.
    private func client(
        _ isDown: Locked<Bool> = Locked(true),
        time: ManualClock = ManualClock()
    ) throws -> (NetworkClient, StubTransport) {
        try NetworkClient.stubbed(time: time) { request in
            request.server == "primary" && isDown.withLock { $0 } ? .failure(.connectionReset) : .status(200)
        }
    }

    /// A read that must not be repeated.
    private var draw: APIConfiguration {
        var configuration = APIConfiguration(path: "lottery/draw")
        configuration.mayBeRepeated = false
        return configuration
    }

    @Test func `a read that must not be repeated is sent once, and the servers are probed at their base URLs`()
        async throws
    {
        let (client, transport) = try client()

        #expect(await client.failure(of: draw) != nil)

        #expect(await transport.waitForRequests(3))
        let urls = transport.requests.map(\.url.path)
        #expect(urls.count { $0 == "/v1/lottery/draw" } == 1)
        #expect(urls.dropFirst().allSatisfy { $0 == "/v1" })
    }

    @Test func `a read that must not be repeated is not sent as a probe`() async throws {
        let (isDown, time) = (Locked(true), ManualClock())
        let (client, transport) = try client(isDown, time: time)
        for _ in 0..<30 { _ = try? await client.send(APIConfiguration(path: "list")) }
        #expect(client.currentServer != "primary")
        isDown.withLock { $0 = false }
        time.advance(by: .seconds(120))
        let before = transport.requestCount

        _ = try await client.send(draw)

        #expect(await transport.waitForRequests(before + 2))
        #expect(transport.requests.count { $0.url.text.hasSuffix("lottery/draw") } == 1)
    }

    @Test func `after a failed write, the servers are probed with the write's expanded path without the query`()
        async throws
    {
        let (client, transport) = try client()
        var write = APIConfiguration(path: "users/{id}/posts", method: .post, query: ["amount": 5])
        write.pathValues = ["id": 7]
        write.apiVersion = "v2"
        write.headers["X-Code"] = "4711"

        #expect(await client.failure(of: write) != nil)

        #expect(await transport.waitForRequests(3))
        let shadows = transport.requests.filter { $0.method == .get }
        #expect(!shadows.isEmpty)
        #expect(shadows.allSatisfy { $0.url.path == "/v1/v2/users/7/posts" && $0.url.query == nil })
        #expect(shadows.allSatisfy { $0.headers["X-Code"] == nil })
    }

    @Test
    func `writes to a path with placeholders make the client leave a broken server and return after its recovery`()
        async throws
    {
        let (isDown, time) = (Locked(true), ManualClock())
        let (client, transport) = try client(isDown, time: time)
        var write = APIConfiguration(path: "users/{id}/posts", method: .post)
        write.pathValues = ["id": 7]

        for _ in 0..<50 where client.currentServer == "primary" {
            let before = transport.requestCount
            _ = await client.failure(of: write)
            await transport.waitForRequests(before + 1)
            await transport.waitUntilIdle()
            time.advance(by: .milliseconds(500))
        }
        #expect(client.currentServer != "primary")

        isDown.withLock { $0 = false }
        for _ in 0..<600 where client.currentServer != "primary" {
            _ = try? await client.send(write)
            await transport.waitUntilIdle()
            time.advance(by: .seconds(1))
        }
        #expect(client.currentServer == "primary")
    }

    @Test func `a failed write causes only one pair of probes if no server responds`() throws {
        let transport = StubTransport(completion: .inline) { _ in .failure(.connectionReset) }
        let service = try Service.topics()
        let client = try NetworkClient(service: service, transport: transport, time: ManualClock())

        client.send(APIConfiguration(path: "list", method: .post), on: .global()) { _ in }

        #expect(transport.requests.map(\.method) == [.post, .get, .get])
    }
}
