import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// Writes that wait for a login.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxLoginTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    private let clock = ManualClock()

    /// An outbox with one write, whose server requires a login.
    private func outbox(
        _ credentials: Credentials,
        retryAfter: String? = nil
    ) throws -> (outbox: Outbox, environment: ServiceEnvironment) {
        let transport = StubTransport { request in
            guard request.headers["Authorization"] != "Bearer good" else { return .status(201) }
            return .status(401, headers: retryAfter.map { ["Retry-After": $0] } ?? [:])
        }
        var options = NetworkClient.Options(seed: 1)
        options.credentials = credentials
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: clock)
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(APIConfiguration(path: "topics", method: .post, timeout: .seconds(7_200)))
        return (outbox, client.environment)
    }

    private func name(_ event: OutboxEvent?) -> String {
        switch event {
        case .sent: "sent"
        case .postponed: "postponed"
        default: "\(String(describing: event))"
        }
    }

    @Test(arguments: [nil, Credential.bearer("bad")])
    func `a write that waits for valid credentials is sent as soon as a user logs in`(before: Credential?) async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let credentials = Credentials(provider: KeptCredential(before))
        let (outbox, environment) = try outbox(credentials)
        var events = outbox.events().makeAsyncIterator()
        let run = outbox.run()
        defer { run.stop() }
        #expect(name(await events.next()) == "postponed")

        credentials.set(.bearer("good"), in: environment)

        #expect(name(await events.next()) == "sent")
        #expect(outbox.entries == [])
    }

    @Test func `a login in another environment does not end a pause`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let credentials = Credentials(provider: KeptCredential(nil))
        let (outbox, environment) = try outbox(credentials)
        var events = outbox.events().makeAsyncIterator()
        let run = outbox.run()
        defer { run.stop() }
        #expect(name(await events.next()) == "postponed")

        credentials.set(.bearer("good"), in: .release)
        credentials.set(.bearer("good"), in: environment)

        #expect(name(await events.next()) == "sent")
        #expect(outbox.state.withLock { $0.turns } == 1)
    }

    @Test func `a login does not end a pause that the server requested`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let credentials = Credentials(provider: KeptCredential(.bearer("bad")))
        let (outbox, environment) = try outbox(credentials, retryAfter: "100")
        var events = outbox.events().makeAsyncIterator()
        let run = outbox.run()
        defer { run.stop() }
        #expect(name(await events.next()) == "postponed")
        await clock.waitForTimers(1, in: .seconds(100))

        credentials.set(.bearer("good"), in: environment)
        clock.advance(by: .seconds(99))
        #expect(outbox.entries.count == 1)
        clock.advance(by: .seconds(1))

        #expect(name(await events.next()) == "sent")
    }
}
