import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardDiskCache

/// Stored responses with values that the library itself never writes.
@Suite(.timeLimit(.minutes(5)), .prompt) struct InvalidRecordTests {
    static let times: [Double] = [.nan, .infinity, -.infinity, 1e300, -1e300]
    let folder = TemporaryFolder()

    private func answer(created seconds: Double) -> StoredResponse {
        StoredResponse(
            body: Data("one".utf8),
            created: Date(timeIntervalSince1970: seconds),
            lifetime: .seconds(60),
            staleFor: .zero
        )
    }

    @Test(arguments: times)
    func `removing entries from the disk cache does not crash at an invalid creation date`(created: Double) async throws
    {
        let disk = try DiskCache(at: folder.url)
        disk.writing.suspend()
        disk.store(answer(created: created), for: DiskCacheTests.key("/1"))
        let ages = Locked<[Duration]>([])
        disk.removeAll { entry in
            ages.withLock { $0.append(entry.age) }
            return false
        }
        disk.writing.resume()
        disk.removeAll { entry in
            ages.withLock { $0.append(entry.age) }
            return false
        }
        disk.removeExpired()
        await disk.flush()

        #expect(!ages.withLock { $0 }.isEmpty)
    }

    @Test(arguments: times)
    func `a response with an invalid or distant creation date has expired`(created: Double) {
        let now = Date(timeIntervalSince1970: 1_700_000_000)

        let refusal = answer(created: created).refusal(for: CachePolicy(), appVersion: nil, now: now)

        #expect(refusal == .expired)
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func `the disk cache stores a digest of any length unchanged, and the fields after it too`(length: Int) async throws
    {
        let disk = try DiskCache(at: folder.url)
        var answer = DiskCacheTests.answer("one", tags: ["a"])
        answer.sensitiveDigest = Data(repeating: 7, count: length)
        disk.store(answer, for: DiskCacheTests.key("/1"))
        await disk.flush()

        let found = try await DiskCache(at: folder.url).answer(for: DiskCacheTests.key("/1"))

        #expect(found == answer)
    }
}
