import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// The outbox file after crashes and damage.
@Suite struct OutboxFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    private var file: URL { folder.appendingPathComponent("outbox") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func entry(_ id: UInt64) throws -> OutboxEntry {
        var configuration = APIConfiguration(path: "topics", method: .post, query: ["n": Int(id)])
        configuration.body = .json(["title": "topic \(id)"])
        return try OutboxEntry(
            configuration,
            id: id,
            date: Date(timeIntervalSince1970: 1),
            environment: .test,
            generator: RequestGenerator()
        )
    }

    /// The stored entries of the file.
    private func waiting() throws -> [OutboxEntry] {
        var (file, entries) = try OutboxFile.open(file)
        file.release()
        return entries
    }

    @Test func `an outbox file that is truncated at any byte keeps its complete entries and stays usable`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var (journal, _) = try OutboxFile.open(file)
        var states: [(length: Int, waiting: [UInt64])] = [(OutboxRecord.magic.count, [])]
        for (record, waiting) in [
            (OutboxRecord.stored(try entry(1)), [1]), (.stored(try entry(2)), [1, 2]), (.done(1), [2]),
            (.begun(2), [2]), (.stored(try entry(3)), [2, 3]), (.done(2), [3]),
        ] as [(OutboxRecord, [UInt64])] {
            try journal.append(record)
            states.append((try Data(contentsOf: file).count, waiting))
        }
        journal.release()
        let whole = try Data(contentsOf: file)

        for length in 0...whole.count {
            try whole.prefix(length).write(to: file)
            var (cut, entries) = try OutboxFile.open(file)
            let expected = states.last { $0.length <= length }?.waiting ?? []
            #expect(entries.map(\.id) == expected, "cut at \(length)")
            try cut.append(.stored(try entry(9)))
            cut.release()
            #expect(try waiting().map(\.id) == expected + [9], "used after a cut at \(length)")
        }
    }

    @Test func `an outbox file is read up to a changed byte, and no damaged entry is returned`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var (journal, _) = try OutboxFile.open(file)
        let stored = try (1...3).map { try entry($0) }
        for entry in stored { try journal.append(.stored(entry)) }
        journal.release()
        let whole = try Data(contentsOf: file)

        for position in OutboxRecord.magic.count..<whole.count {
            var damaged = whole
            damaged[position] ^= 0x55
            try damaged.write(to: file)
            let entries = try waiting()
            #expect(entries == Array(stored.prefix(entries.count)), "damaged at \(position)")
            #expect(entries.count < 3)
        }
    }

    @Test func `an outbox file of the previous format version is converted`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stored = try entry(1)
        let old = try OutboxRecord.stored(stored).bytes + OutboxRecord.done(7).bytes
        try (OutboxRecord.oldMagic + old).write(to: file)

        var (journal, entries) = try OutboxFile.open(file)
        try journal.append(.begun(1))
        journal.release()

        #expect(entries == [stored])
        #expect(try Data(contentsOf: file).starts(with: OutboxRecord.magic))
        #expect(try waiting().map(\.mayHaveBeenExecuted) == [true])
    }

    @Test func `a write that may have been executed is marked as such after a compaction`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var (journal, _) = try OutboxFile.open(file)
        var begun = try entry(1)
        begun.hasBegun = true
        for id in UInt64(2)...100 {
            try journal.append(.stored(try entry(id)))
            try journal.append(.done(id))
        }

        try journal.compact(keeping: [begun, try entry(101)])
        journal.release()

        #expect(try waiting().map(\.mayHaveBeenExecuted) == [true, false])
    }

    @Test func `a file that is not an outbox file is not changed`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("something else entirely, and rather long".utf8).write(to: file)

        #expect(throws: OutboxError.foreignFile) { try OutboxFile.open(file) }
        #expect(try Data(contentsOf: file).count == 40)
    }

    @Test func `the error for a missing folder of the outbox names the folder`() {
        let missing = folder.appendingPathComponent("missing/outbox")

        #expect { try OutboxFile.open(missing) } throws: { error in
            if case OutboxError.file(let text) = error { text.contains("missing") } else { false }
        }
        try? FileManager.default.removeItem(at: folder)
    }

    @Test func `a compaction of the outbox file removes obsolete records`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var (journal, _) = try OutboxFile.open(file)
        let last = try entry(1_000)
        for id in UInt64(1)...100 {
            try journal.append(.stored(try entry(id)))
            try journal.append(.done(id))
        }
        try journal.append(.stored(last))
        let before = try Data(contentsOf: file).count

        try journal.compact(keeping: [last])
        journal.release()

        #expect(try Data(contentsOf: file).count < before / 50)
        #expect(try waiting() == [last])
        (journal, _) = try OutboxFile.open(file)
        try journal.append(.done(1_000))
        journal.release()
        #expect(try waiting() == [])
    }

    @Test func `an outbox file is readable only for the file's owner`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try waiting()

        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
}
