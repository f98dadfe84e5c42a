import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardOutbox

@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxNumberTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder.made()
    }

    private func entry(_ id: UInt64) throws -> OutboxEntry {
        try OutboxEntry(
            APIConfiguration(path: "topics", method: .post),
            id: id,
            date: Date(timeIntervalSince1970: 1),
            environment: .test,
            generator: RequestGenerator()
        )
    }

    // Outbox.remove(_:) with the ID of an earlier write must not remove a later write.
    @Test func `the ID of an outbox entry is not used again after the file was compacted`() throws {
        let place = folder.url.appendingPathComponent("outbox")
        var (journal, _) = try OutboxFile.open(place)
        for id in UInt64(1)...40 {
            try journal.append(.stored(try entry(id)))
            try journal.append(.done(id))
        }
        try journal.compact(keeping: [])
        journal.release()

        var (again, entries) = try OutboxFile.open(place)
        defer { again.release() }

        #expect(entries.isEmpty)
        #expect(again.last == 40)
    }

    @Test func `the largest outbox entry ID is kept when writes end in another order than they were stored`() throws {
        let place = folder.url.appendingPathComponent("outbox")
        var (journal, _) = try OutboxFile.open(place)
        for id in UInt64(1)...40 { try journal.append(.stored(try entry(id))) }
        for id in (UInt64(1)...40).reversed() { try journal.append(.done(id)) }
        try journal.compact(keeping: [])
        journal.release()

        var (again, _) = try OutboxFile.open(place)
        defer { again.release() }

        #expect(again.last == 40)
    }
}
