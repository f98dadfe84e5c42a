import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// Writes keep to the user who has stored them, where the client knows of users; row D55.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxUserTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    private let session = AppSession()

    /// A client of an app in which users take turns.
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

    /// Stores a write of Ada's, who goes and is followed by Bob.
    private func leaveWrite(in outbox: Outbox) throws {
        session.logIn("ada", token: "a1")
        try outbox.store(write("a"))
        session.logIn("bob", token: "b1")
    }

    /// Lets Bob follow Ada in one step: no look at the app in between finds no one, or Ada without a credential.
    private func replaceAda() {
        session.name("bob")
        session.credentials.set(.bearer("b1"), in: .test)
    }

    /// What was asked, and with which credential.
    private func sent(_ transport: StubTransport) -> [String] {
        transport.requests.map { request in
            "\(request.url.path.suffix(1)) \(request.headers["Authorization"] ?? "none")"
        }
    }

    @Test func `a write waits for its user, and those of the present one pass it by`() async throws {
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

    @Test func `a write waits while no one is logged in`() async throws {
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

    @Test func `a write goes with whichever credential its user has by then`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        session.logIn("ada", token: "a1")
        try outbox.store(write("a"))
        session.credentials.set(.bearer("a2"), in: .test)

        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer a2"])
    }

    @Test func `a write keeps its user when the app is started again`() async throws {
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

    @Test func `a write that was stored while no one was logged in goes anyone who is`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let outbox = try Outbox(file: file, client: client)
        try outbox.store(write("a"))
        session.logIn("bob", token: "b1")

        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer b1"])
    }

    @Test func `a write that an older version has stored goes the user who is logged in`() async throws {
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

    @Test func `a client that knows of no users sends what waits the user who is logged in`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client(knowsUsers: false)
        let outbox = try Outbox(file: file, client: client)
        try leaveWrite(in: outbox)

        try await outbox.flush()

        #expect(sent(transport) == ["a Bearer b1"])
    }

    @Test func `a client that knows of no users leaves the writes of one alone`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        session.logIn("ada", token: "a1")
        do { try Outbox(file: file, client: client().client).store(write("a")) }
        let (stranger, transport) = try client(knowsUsers: false)

        let outbox = try Outbox(file: file, client: stranger)
        try await outbox.flush()

        #expect(transport.requestCount == 0)
        #expect(outbox.entries.map(\.user) == ["ada"])
    }

    @Test func `a write that is too old goes the user who is logged in`() async throws {
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

    @Test func `a write that waits for a refresh does not go with the credential of another user`() async throws {
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

    @Test func `a write that was refused is not sent again with the credential of another user`() async throws {
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

    @Test func `a failure of a user who has gone meanwhile delays no caller`() async throws {
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

    @Test func `by itself it sends what waited when its user is back`() async throws {
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
    func `a write is not sent for a user who comes while it is taken out`(look: Int) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (credentials, looks) = (Credentials { _ in nil }, Locked(-1_000))
        credentials.set(.bearer("ada"), in: .test)
        // The app logs another user in at one of the looks at who is there.
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
