import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// Writes belong to the environment in which they were stored.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxEnvironmentTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    private func write(_ path: String) -> APIConfiguration {
        APIConfiguration(path: path, method: .post, timeout: .seconds(7_200))
    }

    private func urls(_ transport: StubTransport) -> [String] { transport.requests.map(\.url.text) }

    @Test func `a stored write waits for its environment while writes of the current environment are sent`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try NetworkClient.stubbed { _ in .status(201) }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        try client.switchEnvironment(to: .release)
        try outbox.store(write("b"))

        #expect(try await outbox.flush() == nil)
        #expect(outbox.entries.map(\.environment) == ["test"])
        try client.switchEnvironment(to: .test)
        #expect(try await outbox.flush() == nil)

        #expect(urls(transport) == ["https://primary.release/v1/b", "http://primary.test/v1/a"])
        #expect(outbox.entries == [])
    }

    @Test func `a stored write keeps its environment after a restart`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try NetworkClient.stubbed { _ in .status(201) }
        do { try Outbox(file: file, client: client).store(write("a")) }
        try client.switchEnvironment(to: .release)

        let outbox = try Outbox(file: file, client: client)
        try await outbox.flush()

        #expect(transport.requestCount == 0)
        #expect(outbox.entries.count == 1)
    }

    @Test func `a write that an older version of the library stored is sent in any environment`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let old = """
            {"id": 1, "idempotencyKey": "k", "storedAt": 0, "method": "POST", "path": "a", "headers": []}
            """
        var (journal, _) = try OutboxFile.open(file)
        try journal.append(.stored(try JSONDecoder().decode(OutboxEntry.self, from: Data(old.utf8))))
        journal.release()
        let (client, transport) = try NetworkClient.stubbed { _ in .status(201) }
        try client.switchEnvironment(to: .release)

        let outbox = try Outbox(file: file, client: client, date: { Date(timeIntervalSinceReferenceDate: 1) })
        try await outbox.flush()

        #expect(urls(transport) == ["https://primary.release/v1/a"])
    }

    @Test func `an expired stored write is dropped whichever environment is in use`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(time: clock) { _ in .status(201) }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        try client.switchEnvironment(to: .release)
        clock.advance(by: .seconds(8 * 86_400))

        try await outbox.flush()

        #expect(outbox.entries == [])
        #expect(transport.requestCount == 0)
    }

    @Test func `a stored write is not sent if the environment switches just before the write is sent`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try NetworkClient.stubbed { _ in .status(201) }
        // The rules run after the outbox has checked the environment and before the request records its own.
        client.rules.add("/**") { _ in try? client.switchEnvironment(to: .release) }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))

        #expect(try await outbox.flush() == nil)

        #expect(transport.requestCount == 0)
        #expect(outbox.entries.count == 1)
        client.rules = ConfigurationRules()
    }

    @Test func `if a write fails after a change of the environment, the flush ends without a pause`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        let flush = Task { try await outbox.flush() }
        #expect(await transport.waitForRequests(1))

        try client.switchEnvironment(to: .release, cancelsActiveRequests: true)

        #expect(try await flush.value == nil)
        #expect(outbox.entries.count == 1)
    }

    @Test func `a running outbox sends waiting writes when their environment is entered again`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, servers: 1, time: clock) { request in
            request.url.text.contains("release") ? .status(503, headers: ["Retry-After": "3600"]) : .status(201)
        }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        try client.switchEnvironment(to: .release)
        try outbox.store(write("b"))
        let run = outbox.run()
        await until { clock.nextDeadline == MonotonicTime(seconds: 3_600) }

        try client.switchEnvironment(to: .test)

        await until { outbox.entries.map(\.path) == ["b"] }
        run.stop()
    }

    @Test func `a change of the environment resets the pause of a running outbox`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, servers: 1, time: clock) { _ in .status(503) }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        var pauses: [Duration] = []
        let events = outbox.events()
        let run = outbox.run()

        for await event in events where pauses.count < 3 {
            guard case .postponed(_, let pause) = event else { continue }
            pauses.append(pause)
            if pauses.count == 1 {
                await until { clock.nextDeadline == MonotonicTime(seconds: 5) }
                clock.advance(by: .seconds(5))
            } else if pauses.count == 2 {
                try client.switchEnvironment(to: .release)
                try outbox.store(write("b"))
            } else {
                run.stop()
                await outbox.close()
            }
        }

        #expect(pauses == [.seconds(5), .seconds(10), .seconds(5)])
    }

    @Test func `a stored write is not sent in another environment even if a rule replaces its interceptors`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try NetworkClient.stubbed { _ in .status(201) }
        client.rules.add("/**") { call in
            call.interceptors = [.observing { _ in }]
            try? client.switchEnvironment(to: .release)
        }
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))

        #expect(try await outbox.flush() == nil)

        #expect(transport.requestCount == 0)
        #expect(outbox.entries.count == 1)
        client.rules = ConfigurationRules()
    }
}
