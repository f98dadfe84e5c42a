import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Responses that arrived while the process was stopped are read before deadlines are checked.
///
/// The clock advances only when a test advances it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ProcessPauseClientTests {
    private let time = ManualClock()

    @Test(arguments: [SwitchPolicy.off, .recommended])
    func `a response that arrived while the process was stopped is returned even if the deadline has passed`(
        _ policy: SwitchPolicy
    ) async throws {
        let network = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: policy, time: time) { _ in
            .delayed(by: .seconds(3), on: network, .status(200))
        }
        let call = Task { try await client.send(APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))

        time.pauseProcess(for: .seconds(5))
        network.advance(by: .seconds(3))

        #expect(try await call.value.status == 200)
        time.advance(by: .zero)
        #expect(transport.requestCount == 1)
    }

    @Test func `after a process stop, a server gets its full time before a hedge starts`() async throws {
        let (client, transport) = try NetworkClient.stubbed(time: time) { _ in .never }
        let call = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(60))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))

        time.pauseProcess(for: .seconds(5))
        time.advance(by: .milliseconds(100))
        #expect(transport.requestCount == 1)
        time.advance(by: .milliseconds(150))

        #expect(await transport.waitForRequests(2))
        client.cancelAll()
        _ = await call.value
    }

    @Test func `a deadline that passed during a process stop does not count against a server`() async throws {
        let (client, transport) = try NetworkClient.stubbed(time: time) { request in
            request.server == "primary" && request.url.text.contains("slow") ? .never : .status(200)
        }
        for _ in 0..<40 { _ = try await client.send(APIConfiguration(path: "list")) }
        let calls = (0..<40).map { index in
            Task {
                await client.failure(of: APIConfiguration(path: "slow/\(index)", method: .post, timeout: .seconds(2)))
            }
        }
        #expect(await transport.waitForRequests(80))
        #expect(await time.waitForTimers(40))

        time.pauseProcess(for: .seconds(5))
        time.advance(by: .zero)

        for call in calls { #expect(await call.value == .deadlineExceeded) }
        #expect(client.servers.allSatisfy { $0.state == .healthy })
    }
}
