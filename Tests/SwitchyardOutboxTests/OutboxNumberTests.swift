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

    // OutboxEntry.id: "later ones have larger numbers"; Outbox.remove(_:) of a number from before would take another write.
    @Test func `a number is not used again, also after a file that was cleared up`() throws {
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
}
