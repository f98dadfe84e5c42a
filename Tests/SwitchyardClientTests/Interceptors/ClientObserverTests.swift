import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt) struct ClientObserverTests {
    /// The events that a client observer received: the path of each call that began, and an entry for each end.
    private final class Told: Sendable {
        private let words = Locked<[String]>([])

        var all: [String] { words.withLock { $0 } }

        func take(_ event: DispatchEvent) {
            switch event.kind {
            case .dispatched(let configuration): words.withLock { $0.append(configuration.path) }
            case .ended: words.withLock { $0.append("end") }
            default: break
            }
        }
    }

    @Test func `an observer receives the calls that are dispatched while it is attached`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let told = Told()
        let clientObserver = ClientObserver { told.take($0) }

        _ = try await client.send(APIConfiguration(path: "before"))
        client.attach(clientObserver)
        _ = try await client.scoped().send(APIConfiguration(path: "while"))
        client.detach(clientObserver)
        _ = try await client.send(APIConfiguration(path: "behind"))
        await until { told.all.count == 2 }

        #expect(told.all == ["while", "end"])
        #expect(client.clientObserverCount == 0)
    }

    @Test func `a detached observer still receives the end of an active call`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in .never }
        let told = Told()
        let clientObserver = ClientObserver { told.take($0) }
        client.attach(clientObserver)

        let call = Task { await client.failure(of: APIConfiguration(path: "slow")) }
        #expect(await transport.waitForRequests(1))
        client.detach(clientObserver)
        client.cancelAll()

        #expect(await call.value == .cancelled)
        await until { told.all == ["slow", "end"] }
    }

    @Test func `several observers receive events until each one is detached`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        let (first, second) = (Told(), Told())
        let clientObservers = [ClientObserver { first.take($0) }, ClientObserver { second.take($0) }]
        for clientObserver in clientObservers { client.attach(clientObserver) }

        _ = try await client.send(APIConfiguration(path: "both"))
        client.detach(clientObservers[0])
        _ = try await client.send(APIConfiguration(path: "one"))
        await until { second.all.count == 4 }

        #expect(first.all == ["both", "end"])
        #expect(second.all == ["both", "end", "one", "end"])
    }

    @Test func `an observer may replace the transport for a server`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .status(200) }
        let other = StubTransport { _ in .failure(.connectionRefused) }
        client.attach(ClientObserver(detour: { $1 == "primary" ? other : $2 }, observe: { _ in }))

        let answer = try await client.send(APIConfiguration(path: "topics"))

        #expect(answer.context.server == "secondary")
        #expect(other.requests.map(\.server) == ["primary"])
        #expect(transport.requests.map(\.server) == ["secondary"])
    }
}
