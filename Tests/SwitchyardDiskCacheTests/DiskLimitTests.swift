import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardDiskCache

/// A disk that is full, that is read-only, or that several caches share.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DiskLimitTests {
    private let folder = TemporaryFolder()

    private static func answer(_ count: Int) -> StoredResponse {
        StoredResponse(body: Data(repeating: 7, count: count), created: Date(), lifetime: .seconds(60))
    }

    private static func key(_ number: Int) -> CacheKey { DiskCacheTests.key("/\(number)") }

    /// Sets the last use of an entry to the given number of seconds ago.
    private func age(_ entry: URL, by seconds: Double) throws {
        let date = Date().addingTimeInterval(-seconds)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: entry.path)
    }

    @Test
    func `the disk cache stays within its size limit, and evicts the least recently used entry first`()
        async throws
    {
        let disk = try DiskCache(at: folder.url, limits: .init(cost: 10_000, entryCost: 3_000))
        var seen: Set<URL> = []
        for number in 0..<4 {
            disk.store(Self.answer(2_000), for: Self.key(number))
            await disk.flush()
            let new = try #require(folder.entries.first { !seen.contains($0) })
            seen.insert(new)
            try age(new, by: Double(1_000 - number))
        }
        _ = try await disk.answer(for: Self.key(0))  // Now the most recently used entry.
        for number in 4..<6 { disk.store(Self.answer(2_000), for: Self.key(number)) }
        await disk.flush()

        #expect(folder.size <= 10_000)
        var left: [Int] = []
        for number in 0..<6 where (try? await disk.answer(for: Self.key(number))) != nil { left.append(number) }
        #expect(left.contains(0) && !left.contains(1) && left.contains(5))
        #expect(disk.statistics.evictions > 0)
    }

    @Test func `the size limit holds for several caches on one folder, and no cache loses the entries of another`()
        async throws
    {
        let limits = DiskCache.Limits(cost: 60_000, entryCost: 2_000)
        let caches = try (0..<3).map { _ in try DiskCache(at: folder.url, limits: limits) }
        await withTaskGroup(of: Void.self) { group in
            for (index, disk) in caches.enumerated() {
                group.addTask {
                    for number in 0..<60 {
                        disk.store(Self.answer(500 + index), for: Self.key(number % 20 * 3 + index))
                    }
                    await disk.flush()
                }
            }
        }

        #expect(folder.size <= 60_000)
        for number in 0..<60 {
            let found = try await caches[(number + 1) % 3].answer(for: Self.key(number))
            #expect(found.body.count == 500 + number % 3)
        }
        #expect(caches.allSatisfy { $0.statistics.failures == 0 && $0.statistics.evictions == 0 })
    }

    @Test func `a damaged file with the total size of the disk cache is recalculated`() async throws {
        let limits = DiskCache.Limits(cost: 5_000, entryCost: 2_000)
        for round in 0..<6 {
            let disk = try DiskCache(at: folder.url, limits: limits)
            disk.store(Self.answer(1_500), for: Self.key(round))
            await disk.flush()
            let ledger = folder.url.appendingPathComponent(".size")
            let torn = [Data(), Data([1, 2, 3]), Data(repeating: 0, count: 16), Data(repeating: 9, count: 99)]
            try torn[round % torn.count].write(to: ledger)
        }

        #expect(folder.size <= 5_000)
    }

    @Test func `a response above the entry limit of the disk cache is not stored, and the older response is removed`()
        async throws
    {
        let disk = try DiskCache(at: folder.url, limits: .init(cost: 8_000))
        disk.store(Self.answer(100), for: Self.key(1))
        disk.store(Self.answer(1_001), for: Self.key(1))
        await disk.flush()

        await #expect(throws: APIError.CacheReason.invalidMetadata) { try await disk.answer(for: Self.key(1)) }
        #expect(disk.statistics.lastError?.kind == .tooLarge)
    }

    @Test func `a slow disk does not fill the memory with pending entries`() async throws {
        let disk = try DiskCache(at: folder.url, limits: .init(waitingCost: 10_000))
        disk.writing.suspend()
        for number in 0..<100 { disk.store(Self.answer(1_000), for: Self.key(number)) }

        #expect(disk.state.withLock { $0.waitingCost } <= 10_000)
        #expect(disk.statistics.failures > 90)
        disk.writing.resume()
        await disk.flush()
        #expect(disk.state.withLock { $0.waitingCost } == 0)
    }

    @Test func `a response that is removed before it is written no longer counts as pending`() async throws {
        let disk = try DiskCache(at: folder.url, limits: .init(waitingCost: 10_000))
        disk.writing.suspend()
        disk.store(Self.answer(1_000), for: Self.key(1))
        #expect(disk.state.withLock { $0.waitingCost } > 0)

        disk.remove(Self.key(1))

        #expect(disk.state.withLock { $0.waitingCost } == 0)
        disk.writing.resume()
        await disk.flush()
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `if the disk is full, the disk cache loses only the new response`() async throws {
        let disk = try DiskCache(at: folder.url)
        disk.store(Self.answer(100), for: Self.key(1))
        await disk.flush()
        // The next file to be written is a link to a device that is always full.
        let aside = folder.url.appendingPathComponent(".new/\(disk.state.withLock { $0.instance })-2")
        try FileManager.default.createSymbolicLink(atPath: aside.path, withDestinationPath: "/dev/full")
        disk.store(Self.answer(200), for: Self.key(2))
        await disk.flush()

        #expect(disk.statistics.lastError?.kind == .diskFull)
        #expect(try await disk.answer(for: Self.key(1)).body.count == 100)
        disk.store(Self.answer(300), for: Self.key(2))
        #expect(try await disk.answer(for: Self.key(2)).body.count == 300)
        await disk.flush()  // The test deletes its folder when it ends.
    }

    @Test func `a cache in a read-only folder returns its responses and stores no new responses`() async throws {
        let disk = try DiskCache(at: folder.url)
        disk.store(Self.answer(100), for: Self.key(1))
        await disk.flush()
        let manager = FileManager.default
        try manager.removeItem(at: folder.url.appendingPathComponent(".new"))
        try Data().write(to: folder.url.appendingPathComponent(".new"))  // Blocks a root process too.
        try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.url.path)
        defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path) }

        let other = try DiskCache(at: folder.url)
        other.store(Self.answer(100), for: Self.key(2))
        await other.flush()
        #expect(try await other.answer(for: Self.key(1)).body.count == 100)
        await #expect(throws: APIError.CacheReason.invalidMetadata) { try await other.answer(for: Self.key(2)) }
        #expect([.accessDenied, .notAFolder].contains(other.statistics.lastError?.kind))
    }

    @Test func `a cache without limits stores and finds a response`() async throws {
        let limits = DiskCache.Limits(cost: .max, entryCost: .max, waitingCost: .max)
        let disk = try DiskCache(at: folder.url, limits: limits)
        disk.store(DiskCacheTests.answer("one"), for: DiskCacheTests.key("/1"))
        await disk.flush()

        let found = try await DiskCache(at: folder.url, limits: limits).answer(for: DiskCacheTests.key("/1"))
        #expect(found == DiskCacheTests.answer("one"))
    }

    @Test func `the cache does not change files in its folder that it did not create`() async throws {
        let album = folder.url.appendingPathComponent("photos/2024")
        try FileManager.default.createDirectory(at: album, withIntermediateDirectories: true)
        let photo = album.appendingPathComponent("summer.jpg")
        try Data(count: 9_000).write(to: photo)
        let disk = try DiskCache(at: folder.url, limits: .init(cost: 10_000, entryCost: 3_000))
        disk.store(Self.answer(2_000), for: Self.key(1))
        await disk.flush()
        disk.removeExpired()
        disk.removeAll()
        await disk.flush()

        #expect(folder.entries.map(\.lastPathComponent) == ["summer.jpg"])
        #expect(disk.statistics.evictions == 0)
    }
}
