import Dispatch
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Short-lived clients.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ManyClientsTests {
    private struct Weak<Object: AnyObject & Sendable>: Sendable {
        weak var object: Object?
    }

    @Test func `a thousand clients that were released leave no object and no connection`() async throws {
        try await calm()  // Some of the requests have to end within their deadline.
        let server = LoopbackServer()
        server.route(.get, "/x", answering: .text("hello"))
        try server.start()
        defer { server.stop() }
        let service = try Service.loopback([server])
        var cores: [Weak<ClientCore>] = []
        var clients: [Weak<NetworkClient>] = []

        for number in 0..<1_000 {
            let client = try NetworkClient(service: service, environment: .test)
            clients.append(Weak(object: client))
            cores.append(Weak(object: client.core))
            if number.isMultiple(of: 20) { _ = try await client.send(APIConfiguration(path: "x")) }
            if number.isMultiple(of: 30) { client.send(APIConfiguration(path: "x"), on: .global()) { _ in } }
            if number.isMultiple(of: 40) { client.shutdown() }
        }

        #expect(clients.allSatisfy { $0.object == nil })
        await until { cores.allSatisfy { $0.object == nil } }
        #expect(await server.wait { $0.connectionsOpen == 0 })
    }
}
