import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// Writes belong to the user that stored them, if the client has users.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxUserTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    private let session = AppSession()

    /// A client whose user changes during the test.
    private func client(
        knowsUsers: Bool = true,
        clock: ManualClock = ManualClock(),
        answer: @escaping @Sendable (HTTPRequest) -> StubResponse = { _ in .status(201) }
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        try NetworkClient.stubbed(
            time: clock,
            options: { session.prepare(&$0, knowsUsers: knowsUsers) },
            answer: answer
        )
    }

    private func write(_ path: String) -> APIConfiguration {
        APIConfiguration(path: path, method: .post, timeout: .seconds(7_200))
    }

    /// Stores a write of Ada and logs Bob in afterwards.
    private func leaveWrite(in outbox: Outbox) throws {
        session.logIn("ada", token: "a1")
        try outbox.store(write("a"))
        session.logIn("bob", token: "b1")
    }

    /// Replaces Ada by Bob in one step, without a moment in which no user is logged in.
    private func replaceAda() {
        session.name("bob")
        session.credentials.set(.bearer("b1"), in: .test)
    }

    /// The path and the credential of each request.
    private func sent(_ transport: StubTransport) -> [String] {
        transport.requests.map { request in
            "\(request.url.path.suffix(1)) \(request.headers["Authorization"] ?? "none")"
        }
    }

    @Test func `a stored write waits for its user while writes of the current user are sent`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        try leaveWrite(in: outbox)
        try outbox.store(write("b"))

        #expect(try await outbox.flush() == nil)
        #expect(outbox.entries.map(\.user) == ["ada"])
        session.logIn("ada", token: "a2")
        #expect(try await outbox.flush() == nil)

        #expect(sent(transport) == ["b Bearer b1", "a Bearer a2"])
        #expect(outbox.entries == [])
    }

    @Test func `a stored write waits while no user is logged in`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        session.logIn("ada", token: "a1")
        try outbox.store(write("a"))
        session.logOut()

        #expect(try await outbox.flush() == nil)

        #expect(outbox.entries.count == 1)
        #expect(transport.requestCount == 0)
    }

    @Test func `a stored write is sent with the current credential of its user`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        session.logIn("ada", token: "a1")
        try outbox.store(write("a"))
        session.credentials.set(.bearer("a2"), in: .test)

        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer a2"])
    }

    @Test func `a stored write keeps its user after a restart`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        session.logIn("ada", token: "a1")
        do { try Outbox(file: file, client: client).store(write("a")) }
        session.logIn("bob", token: "b1")

        let outbox = try Outbox(file: file, client: client)
        try await outbox.flush()
        #expect(outbox.entries.map(\.user) == ["ada"])
        session.logIn("ada", token: "a2")
        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer a2"])
    }

    @Test func `a write that was stored while no user was logged in is sent for any user`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        session.logIn("bob", token: "b1")

        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer b1"])
    }

    @Test func `a write that an older version of the library stored without a user is sent for the current user`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let old = """
            {"id": 1, "idempotencyKey": "k", "environment": "test", "storedAt": 0, "method": "POST", "path": "a",
            "headers": []}
            """
        var (journal, _) = try OutboxFile.open(file)
        try journal.append(.stored(try JSONDecoder().decode(OutboxEntry.self, from: Data(old.utf8))))
        journal.release()
        let (client, transport) = try client()
        session.logIn("bob", token: "b1")

        let outbox = try Outbox(file: file, client: client, date: { Date(timeIntervalSinceReferenceDate: 1) })
        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer b1"])
    }

    @Test func `a client without users sends waiting writes with the current credential`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client(knowsUsers: false)
        let outbox = try Outbox(file: file, client: client)
        try leaveWrite(in: outbox)

        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer b1"])
    }

    @Test func `a client without users does not send the writes of a user`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        session.logIn("ada", token: "a1")
        do { try Outbox(file: file, client: client().client).store(write("a")) }
        let (stranger, transport) = try client(knowsUsers: false)

        let outbox = try Outbox(file: file, client: stranger)
        try await outbox.flush()

        #expect(transport.requestCount == 0)
        #expect(outbox.entries.map(\.user) == ["ada"])
    }

    @Test func `an expired stored write is dropped whichever user is logged in`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (client, transport) = try client(clock: clock)
        let outbox = try Outbox(file: file, client: client)
        try leaveWrite(in: outbox)
        clock.advance(by: .seconds(8 * 86_400))

        try await outbox.flush()

        #expect(outbox.entries == [])
        #expect(transport.requestCount == 0)
    }

    @Test func `a write that waits for a refresh is not sent with the credential of another user`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        session.logIn("ada", .bearer("a1", expiresAt: .distantPast, refreshToken: "r"))
        try outbox.store(write("a"))
        let flush = Task { try await outbox.flush() }
        await session.refreshes.waitForArrivals(1)

        session.name("bob")
        session.credentials.set(.bearer("b1"), in: .test)

        #expect(try await flush.value == nil)
        #expect(transport.requestCount == 0)
        #expect(outbox.entries.map(\.user) == ["ada"])
        session.refreshes.open()
    }

    @Test func `a rejected write is not sent again with the credential of another user`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client { request in
            guard request.headers["Authorization"] == "Bearer a1" else { return .status(201) }
            replaceAda()
            return .status(401)
        }
        let outbox = try Outbox(file: file, client: client)
        session.logIn("ada", token: "a1")
        try outbox.store(write("a"))

        #expect(try await outbox.flush() == nil)

        #expect(sent(transport) == ["a Bearer a1"])
        #expect(outbox.entries.map(\.user) == ["ada"])
    }

    @Test func `the outbox does not pause if a write fails after its user has logged out`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client { request in
            guard request.headers["Authorization"] == "Bearer a1" else { return .status(201) }
            replaceAda()
            return .failure(.connectionReset)
        }
        let outbox = try Outbox(file: file, client: client)
        session.logIn("bob", token: "b0")
        try outbox.store(write("b"))
        session.logIn("ada", token: "a1")
        try outbox.store(write("a"))

        #expect(try await outbox.flush() == nil)

        #expect(sent(transport) == ["a Bearer a1", "b Bearer b1"])
        #expect(outbox.entries.map(\.user) == ["ada"])
    }

    @Test func `a running outbox sends waiting writes when their user logs in again`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        try leaveWrite(in: outbox)
        let run = outbox.run()
        defer { run.stop() }
        try outbox.store(write("b"))
        await until { outbox.entries.map(\.user) == ["ada"] }

        session.logIn("ada", token: "a2")

        await until { outbox.entries == [] }
        #expect(sent(transport) == ["b Bearer b1", "a Bearer a2"])
    }

    @Test(arguments: 1...8)
    func `a write is not sent for a user that logs in while the outbox prepares the write`(look: Int) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (credentials, looks) = (Credentials { _ in nil }, Locked(-1_000))
        credentials.set(.bearer("ada"), in: .test)
        // The app logs another user in at one of the checks of the current user.
        let (client, transport) = try NetworkClient.stubbed(
            options: { options in
                options.credentials = credentials
                options.user = { _ in
                    let count = looks.withLock { looks in
                        looks += 1
                        return looks
                    }
                    if count == look { credentials.set(.bearer("bob"), in: .test) }
                    return count < look ? "ada" : "bob"
                }
            },
            answer: { _ in .status(201) }
        )
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        looks.withLock { $0 = 0 }

        _ = try await outbox.flush()

        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ada" })
    }
}
