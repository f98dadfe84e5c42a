import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// No write of a key is in flight when `remove(replacementKey:)` returns.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxRemovalRaceTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()

    init() throws {
        folder = try TemporaryFolder.made()
    }

    /// An outbox whose server responds a second later.
    private func outbox() throws -> Outbox {
        let (client, _) = try NetworkClient.stubbed(switching: .off, servers: 1, time: clock) { [clock] _ in
            .delayed(by: .seconds(1), on: clock, .status(503))
        }
        return try Outbox(file: folder.url.appending(path: "outbox"), client: client)
    }

    /// Waits until the server has the write.
    private func untilSent() async {
        let response = clock.now.advanced(by: .seconds(1))
        await until { clock.nextDeadline == response }
    }

    private var write: APIConfiguration { APIConfiguration(path: "a", method: .put, timeout: .seconds(3_600)) }

    @Test func `removing a stored write waits if the outbox starts to send the write during the removal`()
        async throws
    {
        let outbox = try outbox()
        for round in 0..<Rounds.count(200, thorough: 1_000) {
            try outbox.store(write, replacementKey: "k")
            let (start, isEarly) = (Locked(false), Locked<Bool?>(nil))
            let flush = Task.detached {
                while !start.withLock({ $0 }) {}
                return try await outbox.flush()
            }
            let removal = Task.detached {
                while !start.withLock({ $0 }) {}
                for _ in 0..<(round % 100) { _ = start.withLock { $0 } }
                _ = try await outbox.remove(replacementKey: "k")
                isEarly.withLock { $0 = outbox.state.withLock { $0.underWay != nil } }
            }
            start.withLock { $0 = true }
            await until { isEarly.withLock { $0 } != nil || outbox.isWaitedFor }
            #expect(isEarly.withLock { $0 } != true)
            if outbox.state.withLock({ $0.underWay != nil }) { await untilSent() }
            clock.advance(by: .seconds(1))
            try await removal.value
            _ = try await flush.value
        }
    }

    @Test func `removing the writes of a replacement key waits for a write in progress that was already removed`()
        async throws
    {
        let outbox = try outbox()
        let entry = try outbox.store(write, replacementKey: "k")
        let flush = Task { try await outbox.flush() }
        await untilSent()
        try outbox.remove(entry.id)

        let hasReturned = Locked(false)
        let removal = Task {
            let dropped = try await outbox.remove(replacementKey: "k")
            hasReturned.withLock { $0 = true }
            return dropped
        }
        await until { hasReturned.withLock { $0 } || outbox.isWaitedFor }

        #expect(!hasReturned.withLock { $0 })
        clock.advance(by: .seconds(1))
        #expect(try await removal.value.isEmpty)
        _ = try await flush.value
    }
}

extension Outbox {
    /// Whether a removal waits for the write in flight.
    fileprivate var isWaitedFor: Bool { state.withLock { $0.underWay?.waiters.isEmpty == false } }
}
