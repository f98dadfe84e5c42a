import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// Expiry of writes.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxAgeTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    private let clock = ManualClock()
    private let date = Locked(Date(timeIntervalSince1970: 1_790_000_000))
    private static let day = 86_400.0

    private func outbox(
        clock: ManualClock? = nil,
        answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (Outbox, StubTransport) {
        let (client, transport) = try NetworkClient.stubbed(
            switching: .off,
            servers: 1,
            time: clock ?? self.clock,
            answer
        )
        return (try Outbox(file: file, client: client, date: { [date] in date.withLock { $0 } }), transport)
    }

    private func write() -> APIConfiguration {
        APIConfiguration(path: "notes", method: .post, timeout: .seconds(100 * Self.day))
    }

    /// Advances the wall clock and the monotonic clock.
    private func pass(days: Double) {
        clock.advance(by: .seconds(days * Self.day))
        date.withLock { $0 += days * Self.day }
    }

    @Test(
        arguments: [
            (0, 1_790_000_000), (1_790_000_000, 1_821_536_000), (1_821_536_000, 1_790_000_000),
        ] as [(Double, Double)]
    )
    func `a jump of the wall clock does not expire a stored write`(stored: Double, sent: Double) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let answers = AnswerList([.failure(.connectionRefused), .status(503), .status(401), .status(201)])
        let (outbox, _) = try outbox { answers.answer($0) }
        date.withLock { $0 = Date(timeIntervalSince1970: stored) }
        try outbox.store(write())
        date.withLock { $0 = Date(timeIntervalSince1970: sent) }

        for _ in 0..<3 {
            #expect(try await outbox.flush() != nil)
            #expect(outbox.entries.count == 1)
        }
        #expect(try await outbox.flush() == nil)
        #expect(outbox.entries == [])
    }

    @Test func `a stored write does not expire if the wall clock jumps while the app is not running`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        date.withLock { $0 = Date(timeIntervalSince1970: 0) }
        do { try outbox { _ in .never }.0.store(write()) }
        date.withLock { $0 = Date(timeIntervalSince1970: 1_790_000_000) }
        let (outbox, _) = try outbox(clock: ManualClock()) { _ in .status(503) }

        #expect(try await outbox.flush() != nil)
        #expect(outbox.entries.count == 1)
    }

    @Test func `an old stored write is sent as soon as a server can be reached`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let answers = AnswerList([.failure(.connectionRefused), .failure(.offline), .status(201)])
        let (outbox, transport) = try outbox { answers.answer($0) }
        try outbox.store(write())
        pass(days: 30)

        for _ in 0..<3 { try await outbox.flush() }

        #expect(outbox.entries == [])
        #expect(transport.requestCount == 3)
    }

    @Test(arguments: [401, 429, 503])
    func `an expired stored write is dropped when its server responds without accepting it`(status: Int) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox { _ in .status(status) }
        try outbox.store(write())
        try await outbox.flush()
        pass(days: 8)
        var events = outbox.events().makeAsyncIterator()

        #expect(try await outbox.flush() == nil)

        guard case .expired(let entry) = await events.next() else {
            Issue.record("expected a write that expired")
            return
        }
        #expect(entry.path == "notes")
        #expect(transport.requestCount == 2)
    }

    @Test func `the page of a captive portal does not expire a write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { request in
            request.method == .post
                ? .status(302, headers: ["Location": "http://portal.test/"]) : .status(200, body: Data("<html>".utf8))
        }
        try outbox.store(write())
        pass(days: 8)

        #expect(try await outbox.flush() != nil)
        #expect(outbox.entries.count == 1)
    }

    @Test func `each run of the app adds at most a quarter of the maximum age to the age of a stored write`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let (first, _) = try outbox { _ in .status(503) }
            try first.store(write())
            pass(days: 3)
            await first.close()
        }
        for left in [1, 1, 0] {
            date.withLock { $0 += 2 * Self.day }
            let (next, _) = try outbox(clock: ManualClock()) { _ in .status(503) }
            try await next.flush()
            #expect(next.entries.count == left)
            await next.close()
        }
    }
}
