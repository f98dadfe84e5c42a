import Foundation
import SwitchyardClient
import SwitchyardFixtures
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardDiskCache

@Suite(.timeLimit(.minutes(5)), .prompt) struct DiskUseTests {
    private let folder = TemporaryFolder()

    private func ages() throws -> [TimeInterval] {
        try folder.entries.map { entry in
            let facts = try FileManager.default.attributesOfItem(atPath: entry.path)
            let used = try #require(facts[.modificationDate] as? Date)
            return -used.timeIntervalSinceNow
        }
    }

    @Test(arguments: [true, false])
    func `a scan for entries to remove does not count as a use of the remaining entries`(
        byRule: Bool
    ) async throws {
        let disk = try DiskCache(at: folder.url)
        for number in 0..<3 {
            let answer = StoredResponse(body: Data([1]), created: Date(), lifetime: .seconds(3_600))
            disk.store(answer, for: DiskCacheTests.key("/\(number)"))
        }
        await disk.flush()
        for entry in folder.entries {
            let date = Date().addingTimeInterval(-1_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: entry.path)
        }

        if byRule { disk.removeAll(where: { _ in false }) } else { disk.removeExpired() }
        await disk.flush()

        #expect(try ages().count == 3)
        #expect(try ages().allSatisfy { $0 > 900 })
    }
}
