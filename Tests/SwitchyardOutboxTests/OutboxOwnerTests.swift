import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Only one outbox uses a file at a time.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxOwnerTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    private func client(
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse = { _ in .status(201) }
    ) throws -> (NetworkClient, StubTransport) {
        try NetworkClient.stubbed(switching: .off, servers: 1, answer)
    }

    private func write(_ path: String) -> APIConfiguration {
        APIConfiguration(path: path, method: .post, timeout: .seconds(3_600))
    }

    @Test func `a second outbox on the same file is rejected, so no write is lost or sent twice`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let one = try Outbox(file: file, client: client)
        try one.store(write("a"))

        #expect(throws: OutboxError.busy) {
            let two = try Outbox(file: file, client: client)
            try two.store(write("b"))
        }
        try one.store(write("c"))
        try await one.flush()

        #expect(transport.requests.map(\.url.path) == ["/v1/a", "/v1/c"])
    }

    @Test func `a released outbox unlocks the file and leaves its entries`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try client()
        do { try Outbox(file: file, client: client).store(write("a")) }

        let next = try Outbox(file: file, client: client)

        #expect(next.entries.map(\.path) == ["a"])
    }

    @Test func `an outbox file stays locked after a compaction`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try client()
        let one = try Outbox(file: file, client: client)
        for _ in 1...40 { try one.store(write("a")) }
        let before = try Data(contentsOf: file).count
        try await one.flush()
        #expect(try Data(contentsOf: file).count < before)

        #expect(throws: OutboxError.busy) { try Outbox(file: file, client: client) }
        try one.store(write("b"))
        await one.close()

        #expect(try Outbox(file: file, client: client).entries.map(\.path) == ["b"])
    }

    @Test func `a symbolic link to an outbox file is locked too`() async throws {
        let link = file.appendingPathExtension("link")
        defer { for url in [file, link] { try? FileManager.default.removeItem(at: url) } }
        let (client, _) = try client()
        let one = try Outbox(file: file, client: client)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)

        #expect(throws: OutboxError.busy) { try Outbox(file: link, client: client) }
        try one.store(write("a"))
        await one.close()

        #expect(try Outbox(file: link, client: client).entries.map(\.path) == ["a"])
    }

    @Test func `an outbox respects another process's lock on its file until the lock is released`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, _) = try client()
        do { try Outbox(file: file, client: client).store(write("a")) }
        // The system locks the open file description, so a lock of this process acts like a lock of another process.
        let other = open(file.path, O_RDWR | O_CLOEXEC)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)

        #expect(throws: OutboxError.busy) { try Outbox(file: file, client: client) }
        // A child process that another test starts has a copy of the descriptor until its program runs.
        flock(other, LOCK_UN)
        close(other)

        #expect(try Outbox(file: file, client: client).entries.count == 1)
    }

    @Test func `a closed outbox unlocks the file and neither stores nor sends writes`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (client, transport) = try client()
        let one = try Outbox(file: file, client: client)
        let entry = try one.store(write("a"))
        var events = one.events().makeAsyncIterator()

        await one.close()
        await one.close()
        let two = try Outbox(file: file, client: client)

        #expect(throws: OutboxError.closed) { try one.store(write("b")) }
        #expect(throws: OutboxError.closed) { try one.remove(entry.id) }
        await #expect(throws: OutboxError.closed) { try await one.flush() }
        #expect(await events.next() == nil)
        for await _ in one.events() {}
        #expect(transport.requestCount == 0)
        #expect(two.entries == [entry])
    }

    @Test func `a write in progress is recorded before a closing outbox unlocks the file`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (client, transport) = try client { _ in .delayed(by: .seconds(1), on: clock, .status(201)) }
        let one = try Outbox(file: file, client: client)
        try one.store(write("a"))
        try one.store(write("b"))
        let flush = Task { try await one.flush() }
        await until { clock.pendingTimers > 0 }

        async let closed: Void = one.close()
        await until { one.state.withLock { $0.isClosed } }
        #expect(throws: OutboxError.busy) { try Outbox(file: file, client: client) }
        clock.advance(by: .seconds(1))
        await closed

        #expect(try await flush.value == nil)
        #expect(try Outbox(file: file, client: client).entries.map(\.path).first == "b")
        #expect(transport.requestCount == 1)
    }

    @Test func `a running outbox can be closed and opened again without losing writes`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let answers = AnswerList([.never, .status(201)])
        let (client, transport) = try client { answers.answer($0) }
        let one = try Outbox(file: file, client: client)
        try one.store(write("a"))
        let run = one.run()
        #expect(await transport.waitForRequests(1))

        run.stop()
        await one.close()
        let two = try Outbox(file: file, client: client)
        try await two.flush()

        #expect(transport.requests.map(\.url.path) == ["/v1/a", "/v1/a"])
        #expect(Set(transport.requests.map { $0.headers["Idempotency-Key"] }).count == 1)
        #expect(two.entries == [])
    }
}
