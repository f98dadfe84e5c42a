import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardDiskCache

/// Every response that is found is complete, whatever damage the files have.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DiskDamageTests {
    private let folder = TemporaryFolder()

    private static func answer(_ number: Int) -> StoredResponse {
        var answer = DiskCacheTests.answer(
            String(repeating: "\(number) ", count: 1 + number % 300),
            tags: ["\(number)"]
        )
        answer.version = number
        return answer
    }

    private static func key(_ number: Int) -> CacheKey { DiskCacheTests.key("/\(number)") }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `a damaged file of the disk cache is a cache miss, and its entry is removed`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed &+ 1)
        let disk = try DiskCache(at: folder.url)
        for number in 0..<150 { disk.store(Self.answer(number), for: Self.key(number)) }
        await disk.flush()
        for entry in folder.entries { try Self.damage(entry, &random) }

        let reader = try DiskCache(at: folder.url)
        var whole = 0
        for number in 0..<150 {
            guard let found = try? await reader.answer(for: Self.key(number)) else { continue }
            #expect(found == Self.answer(number))
            whole += 1
        }
        await reader.flush()
        #expect(folder.entries.count == whole)
        #expect(reader.statistics.damaged + reader.statistics.misses == 150 - whole, "seed \(seed)")
    }

    /// Truncates, extends, changes or swaps a file, or leaves it unchanged.
    private static func damage(_ file: URL, _ random: inout SeededGenerator) throws {
        var bytes = try Data(contentsOf: file)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
        case 1: bytes.append(UInt8.random(in: 0...255, using: &random))
        case 2, 3:
            // Skips the format version, because the cache keeps entries of a newer format.
            let places = bytes.indices.filter { !(4..<6).contains($0) }
            bytes[places.randomElement(using: &random) ?? 0] ^= UInt8.random(in: 1...255, using: &random)
        case 4: bytes = Data((0..<bytes.count).map { _ in UInt8.random(in: 0...255, using: &random) })
        default: return
        }
        try bytes.write(to: file)
    }

    @Test func `an entry stored under the file name of another key is treated as damaged`() async throws {
        let disk = try DiskCache(at: folder.url)
        disk.store(Self.answer(1), for: Self.key(1))
        await disk.flush()
        let first = try #require(folder.entries.first)
        disk.store(Self.answer(2), for: Self.key(2))
        await disk.flush()
        let second = try #require(folder.entries.first { $0 != first })
        try Data(contentsOf: first).write(to: second)

        await #expect(throws: APIError.CacheReason.invalidData) { try await disk.answer(for: Self.key(2)) }
        #expect(try await disk.answer(for: Self.key(1)) == Self.answer(1))
    }

    @Test func `an entry written by a newer library version is a cache miss and stays until it is replaced`()
        async throws
    {
        let disk = try DiskCache(at: folder.url)
        disk.store(Self.answer(1), for: Self.key(1))
        await disk.flush()
        let entry = try #require(folder.entries.first)
        var bytes = try Data(contentsOf: entry)
        bytes[4] = UInt8(DiskRecord.formatVersion + 1)
        try bytes.write(to: entry)

        await #expect(throws: APIError.CacheReason.invalidMetadata) { try await disk.answer(for: Self.key(1)) }
        await disk.flush()
        #expect(folder.entries == [entry])
        disk.store(Self.answer(3), for: Self.key(1))
        await disk.flush()
        #expect(try await disk.answer(for: Self.key(1)) == Self.answer(3))
    }

    @Test func `a killed writer leaves only complete entries, and its temporary files are removed later`() async throws
    {
        let disk = try DiskCache(at: folder.url)
        disk.store(Self.answer(1), for: Self.key(1))
        await disk.flush()
        let aside = folder.url.appendingPathComponent(".new/4711-1")
        try Data(contentsOf: try #require(folder.entries.first)).prefix(40).write(to: aside)
        let longAgo = Date().addingTimeInterval(-3_600)
        try FileManager.default.setAttributes([.modificationDate: longAgo], ofItemAtPath: aside.path)

        let next = try DiskCache(at: folder.url)
        #expect(try await next.answer(for: Self.key(1)) == Self.answer(1))
        next.store(Self.answer(2), for: Self.key(2))
        await next.flush()
        #expect(!FileManager.default.fileExists(atPath: aside.path))
    }

    @Test(arguments: [4, 5, 6, 7])
    func `the disk cache rejects a record with a changed version or flag byte, even if the rest is valid`(place: Int)
        throws
    {
        let key = Self.key(1)
        let record = DiskRecord(key, digest: key.fingerprint, Self.answer(1))
        for bit in 0..<8 {
            var bytes = try record.encoded(nil)
            bytes[place] ^= 1 << bit
            let version = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
            let expected: DiskRecord.Failure = version > DiskRecord.formatVersion ? .newer : .damaged
            #expect(throws: expected) { try DiskRecord(bytes, nil) }
        }
    }

    @Test func `the disk cache rejects truncated files and random bytes without a crash`() throws {
        let key = Self.key(1)
        let bytes = try DiskRecord(key, digest: key.fingerprint, Self.answer(1)).encoded(nil)
        for length in 0..<bytes.count {
            #expect(throws: DiskRecord.Failure.damaged) { try DiskRecord(bytes.prefix(length), nil) }
        }
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let noise = Data(
                (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            )
            var reader = RecordReader(noise)
            _ = try? reader.text()
            _ = try? reader.count(ofSize: 8)
            _ = try? reader.double()
            #expect(throws: DiskRecord.Failure.damaged) { try DiskRecord(noise, nil) }
        }
    }
}
