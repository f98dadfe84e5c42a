import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Which server a body counts against that is truncated after its response head.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BrokenBodyTests {
    private let clock = ManualClock()

    /// A client whose films are truncated half a minute after their heads.
    private func client(redirecting: Bool) throws -> NetworkClient {
        try NetworkClient.stubbed(time: clock) { [clock] request in
            guard request.url.text.hasSuffix("film") else { return .status(200) }
            if redirecting, request.server != "far" {
                return .status(302, headers: ["Location": "https://far.test/film"])
            }
            let cut = TransportError(.timeout, message: "silence")
            return .chunks([Data("one".utf8)], every: .seconds(30), on: clock, failing: cut)
        }.client
    }

    /// Reads a film until it is truncated, and calls `event` before.
    private func read(with client: NetworkClient, while event: () -> Void = {}) async throws {
        let film = try await client.stream(APIConfiguration(path: "film"))
        let reading = Task { try await film.bytes.collect(upTo: 100) }
        await until { clock.nextDeadline == clock.now.advanced(by: .seconds(30)) }
        clock.advance(by: .seconds(1))
        event()
        clock.advance(by: .seconds(28))
        // A failure right after this response does not count as a failure of the network path.
        _ = try await client.send(APIConfiguration(path: "list"))
        clock.advance(by: .seconds(1))
        await #expect(throws: RequestFailure.self) { _ = try await reading.value }
    }

    @Test func `a truncated body counts against its server`() async throws {
        let client = try client(redirecting: false)

        try await read(with: client)

        #expect(client.servers[0].statistics.lastFailure == .timeout)
    }

    @Test func `a truncated body from a redirect target does not count against a server`() async throws {
        let client = try client(redirecting: true)

        try await read(with: client)

        #expect(client.servers[0].statistics.lastFailure == nil)
    }

    @Test
    func `a body truncated by a network change does not count against a server, even if the read fails much later`()
        async throws
    {
        let client = try client(redirecting: false)

        try await read(with: client) { client.networkPathChanged() }

        #expect(client.servers[0].statistics.lastFailure == nil)
    }
}
