import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// A newer write replaces an older write with the same key.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxReplacementTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    private func outbox(
        _ options: Outbox.Options = Outbox.Options(),
        at file: URL? = nil,
        clock: ManualClock = ManualClock(),
        answer: @escaping @Sendable (HTTPRequest) -> StubResponse = { _ in .status(201) }
    ) throws -> (Outbox, StubTransport) {
        let (client, transport) = try NetworkClient.stubbed(switching: .off, servers: 1, time: clock, answer)
        return (try Outbox(file: file ?? self.file, client: client, options: options), transport)
    }

    private func write(_ path: String) -> APIConfiguration {
        APIConfiguration(path: path, method: .put, timeout: .seconds(3_600))
    }

    private func paths(_ transport: StubTransport) -> [Substring] { transport.requests.map { $0.url.path.suffix(1) } }

    /// The first `count` ends of writes, each as `path: outcome`.
    private func ends(_ count: Int, _ events: AsyncStream<OutboxEvent>) async -> [String] {
        var ends: [String] = []
        for await event in events {
            switch event {
            case .stored, .postponed, .unconfirmed: continue
            case .sent(let entry, _): ends.append("\(entry.path): sent")
            case .rejected(let entry, _): ends.append("\(entry.path): rejected")
            case .unsendable(let entry, _): ends.append("\(entry.path): unsendable")
            case .expired(let entry): ends.append("\(entry.path): expired")
            case .replaced(let entry, let newer): ends.append("\(entry.path): replaced by \(newer.path)")
            }
            if ends.count == count { break }
        }
        return ends
    }

    @Test func `a newer write in the outbox replaces the older writes with the same replacement key`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox()
        let events = outbox.events()
        try outbox.store(write("a"), replacementKey: "note 7")
        try outbox.store(write("b"), replacementKey: "note 8")
        try outbox.store(write("c"), replacementKey: "note 7")
        try outbox.store(write("d"))
        try outbox.store(write("e"), replacementKey: "note 7")

        try await outbox.flush()

        #expect(paths(transport) == ["b", "d", "e"])
        #expect(
            await ends(5, events) == ["a: replaced by c", "c: replaced by e", "b: sent", "d: sent", "e: sent"]
        )
    }

    @Test func `an outbox file that is cut off during a replacement contains either the old or the new write`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let lengths: [Int]
        do {
            let (outbox, _) = try outbox()
            try outbox.store(write("a"), replacementKey: "k")
            let length = try Data(contentsOf: file).count
            try outbox.store(write("b"), replacementKey: "k")
            lengths = [length, try Data(contentsOf: file).count]
        }
        let (whole, copy) = (try Data(contentsOf: file), file.appendingPathExtension("copy"))
        defer { try? FileManager.default.removeItem(at: copy) }

        for length in lengths[0]...lengths[1] {
            try whole.prefix(length).write(to: copy)
            let paths = try outbox(at: copy).0.entries.map(\.path)
            #expect(paths == ["a"] || paths == ["b"], "cut at \(length): \(paths)")
        }
    }

    @Test func `a replaced write does not return after the newer write is sent`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let (outbox, _) = try outbox()
            try outbox.store(write("a"), replacementKey: "k")
            try outbox.store(write("b"), replacementKey: "k")
            try await outbox.flush()
        }

        #expect(try outbox().0.entries == [])
    }

    @Test func `a replacement does not count against the maximum number of writes`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox(Outbox.Options(maximumCount: 1))
        try outbox.store(write("a"), replacementKey: "k")

        try outbox.store(write("b"), replacementKey: "k")

        #expect(outbox.entries.map(\.path) == ["b"])
        #expect(throws: OutboxError.full(limit: 1)) { try outbox.store(write("c"), replacementKey: "other") }
    }

    /// An outbox that is sending the write `a` with the key `k`, whose response comes a second later.
    private func sending(
        _ status: Int,
        _ clock: ManualClock
    ) async throws -> (Outbox, StubTransport, AsyncStream<OutboxEvent>, Task<Duration?, any Error>) {
        let (outbox, transport) = try outbox(clock: clock) { request in
            guard request.url.path.hasSuffix("a") else { return .status(201) }
            return .delayed(by: .seconds(1), on: clock, .status(status))
        }
        let events = outbox.events()
        try outbox.store(write("a"), replacementKey: "k")
        let flush = Task { try await outbox.flush() }
        await until { clock.nextDeadline == MonotonicTime(seconds: 1) }
        return (outbox, transport, events, flush)
    }

    @Test(arguments: [(201, "a: sent"), (503, "a: replaced by b")])
    func `a write in progress ends once when a newer write replaces it`(status: Int, end: String) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (outbox, transport, events, flush) = try await sending(status, clock)

        try outbox.store(write("b"), replacementKey: "k")
        clock.advance(by: .seconds(1))
        _ = try await flush.value
        try await outbox.flush()

        #expect(paths(transport) == ["a", "b"])
        #expect(await ends(2, events) == [end, "b: sent"])
    }

    @Test(arguments: [(201, []), (503, ["a"])])
    func `removing the writes of a replacement key waits for the write in progress`(
        status: Int,
        dropped: [String]
    ) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let (outbox, _, _, flush) = try await sending(status, clock)

        let removal = Task { try await outbox.remove(replacementKey: "k") }
        await until { outbox.state.withLock { $0.underWay?.waiters.isEmpty == false } }
        clock.advance(by: .seconds(1))

        #expect(try await removal.value.map(\.path) == dropped)
        _ = try await flush.value
        #expect(outbox.entries == [])
    }

    @Test func `removing the writes of a replacement key leaves the other writes`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox()
        try outbox.store(write("a"), replacementKey: "k")
        try outbox.store(write("b"))

        #expect(try await outbox.remove(replacementKey: "k").map(\.path) == ["a"])
        #expect(try await outbox.remove(replacementKey: "k").isEmpty)

        #expect(outbox.entries.map(\.path) == ["b"])
    }
}
