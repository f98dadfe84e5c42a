import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// App callbacks during a store, cancelled flushes and exhausted IDs.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxEdgeTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    private func outbox(
        date: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 0) },
        answer: @escaping @Sendable (HTTPRequest) -> StubResponse = { _ in .status(201) }
    ) throws -> (Outbox, StubTransport) {
        let (client, transport) = try NetworkClient.stubbed(switching: .off, servers: 1, answer)
        return (try Outbox(file: file, client: client, date: date), transport)
    }

    private func write(_ key: String) -> APIConfiguration {
        var configuration = APIConfiguration(path: "topics", method: .post, timeout: .seconds(3_600))
        configuration.idempotencyKey = .given(key)
        return configuration
    }

    @Test func `the clock and the body closure of the app may read the outbox during a store`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let asked = Locked<Outbox?>(nil)
        let counts = Recorder<Int>()
        let ask: @Sendable () -> Void = {
            if let outbox = asked.withLock({ $0 }) { counts.record(outbox.entries.count) }
        }
        let (outbox, _) = try outbox(date: {
            ask()
            return Date(timeIntervalSince1970: 0)
        })
        asked.withLock { $0 = outbox }
        defer { asked.withLock { $0 = nil } }
        var write = write("key 1")
        write.body = .custom(contentType: "text/plain") {
            ask()
            return .data(Data("a".utf8))
        }

        try outbox.store(write)

        #expect(counts.values == [0, 0])
        #expect(outbox.entries.map(\.body) == [Data("a".utf8)])
    }

    @Test func `an outbox whose IDs are exhausted rejects new writes and still sends its entries`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            var (journal, _) = try OutboxFile.open(file)
            let last = try OutboxEntry(
                write("last"),
                id: .max,
                date: Date(timeIntervalSince1970: 0),
                environment: .test,
                generator: RequestGenerator()
            )
            try journal.append(.stored(last))
            journal.release()
        }
        let (outbox, transport) = try outbox()

        #expect(throws: OutboxError.self) { try outbox.store(write("one more")) }
        try await outbox.flush()

        #expect(transport.requests.map { $0.headers["Idempotency-Key"] } == ["last"])
        #expect(outbox.entries == [])
    }

    @Test func `a cancelled flush does not count as a failure of the write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let answers = AnswerList([.never, .status(503)])
        let (outbox, transport) = try outbox(answer: { answers.answer($0) })
        try outbox.store(write("key 1"))
        var events = outbox.events().makeAsyncIterator()

        let flush = Task { try await outbox.flush() }
        await until { transport.requestCount == 1 }
        flush.cancel()
        let cancelled = try await flush.value
        let refused = try await outbox.flush()

        #expect(cancelled == nil)
        #expect(refused == .seconds(5))
        guard case .postponed(let entry, let pause) = await events.next() else {
            Issue.record("expected one refused write")
            return
        }
        #expect(entry.idempotencyKey == "key 1" && pause == .seconds(5))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `an outbox pause of zero or less becomes one millisecond`(pause: Duration) {
        var options = Outbox.Options(pause: pause)
        #expect(options.pause == .milliseconds(1))

        options.pause = pause

        #expect(options.pause == .milliseconds(1))
    }
}
