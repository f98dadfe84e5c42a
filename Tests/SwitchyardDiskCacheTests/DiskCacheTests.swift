import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardAPI
@testable import SwitchyardDiskCache

/// Storing, finding and removing responses on disk.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DiskCacheTests {
    static let topics = CachePartition(service: "topics", environment: "release")
    let folder = TemporaryFolder()

    static func key(_ path: String, _ partition: CachePartition = topics) -> CacheKey {
        CacheKey(partition, path: path, headers: [("Authorization", "Bearer s3cr3t")])
    }

    static func answer(_ text: String, tags: Set<String> = []) -> StoredResponse {
        var answer = StoredResponse(
            headers: ["Content-Type": "application/json; charset=utf-8", "ETag": "\"1\""],
            body: Data(text.utf8),
            created: Date(timeIntervalSince1970: 1_700_000_000.25),
            lifetime: .seconds(60),
            staleFor: .milliseconds(1_500)
        )
        answer.tags = tags
        return answer
    }

    @Test func `one disk cache file holds body and metadata, and another DiskCache instance finds both`() async throws {
        let disk = try DiskCache(at: folder.url)
        disk.store(Self.answer("one"), for: Self.key("/1"))
        await disk.flush()

        #expect(folder.entries.count == 1)
        let found = try await DiskCache(at: folder.url).answer(for: Self.key("/1"))
        #expect(found == Self.answer("one"))
        await #expect(throws: APIError.CacheReason.invalidMetadata) { try await disk.answer(for: Self.key("/2")) }
    }

    @Test func `the disk cache stores version, sensitive-data digest, charset, creation date and app version`()
        async throws
    {
        let disk = try DiskCache(at: folder.url, appVersion: "1.2")
        var answer = Self.answer("one", tags: ["a", "b"])
        answer.version = 7
        answer.sensitiveDigest = MessageDigest.sha256(Data("admin".utf8))
        answer.transit = .milliseconds(30)
        disk.store(answer, for: Self.key("/1"))
        await disk.flush()

        let found = try await DiskCache(at: folder.url).answer(for: Self.key("/1"))
        #expect(found.version == 7 && found.charset == "utf-8" && found.appVersion == "1.2")
        #expect(found.created == answer.created && found.sensitiveDigest == answer.sensitiveDigest)
        #expect(found.tags == ["a", "b"] && found.transit == .milliseconds(30))
    }

    @Test func `the files of the cache contain neither the sensitive data nor the request's header fields`()
        async throws
    {
        let disk = try DiskCache(at: folder.url)
        var policy = CachePolicy()
        policy.sensitiveData = "token of Ada"
        var answer = Self.answer("one")
        answer.sensitiveDigest = policy.sensitiveDigest
        disk.store(answer, for: Self.key("/1"))
        await disk.flush()

        let bytes = try Data(contentsOf: try #require(folder.entries.first))
        for secret in ["token of Ada", "s3cr3t"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
    }

    @Test func `storing a response does not wait for the disk, and entries that are not written yet are found`()
        async throws
    {
        let disk = try DiskCache(at: folder.url)
        disk.writing.suspend()
        disk.store(Self.answer("one"), for: Self.key("/1"))
        disk.store(Self.answer("two"), for: Self.key("/2"))

        #expect(try await disk.answer(for: Self.key("/1")).body == Data("one".utf8))
        #expect(folder.entries.isEmpty)
        disk.writing.resume()
        await disk.flush()
        #expect(folder.entries.count == 2)
    }

    @Test func `in the disk cache, a newer response replaces the older response`() async throws {
        let disk = try DiskCache(at: folder.url)
        for text in ["one", "another one", "1"] {
            disk.store(Self.answer(text), for: Self.key("/1"))
            await disk.flush()
        }

        #expect(try await disk.answer(for: Self.key("/1")).body == Data("1".utf8))
        #expect(folder.entries.count == 1)
    }

    @Test func `the disk cache creates its folder and the folders above it`() throws {
        let deep = folder.url.appendingPathComponent("a/b/c")

        _ = try DiskCache(at: deep)

        #expect(FileManager.default.fileExists(atPath: deep.path))
    }

    @Test func `the disk cache replaces a file at the path of its folder only if replacesFile is set`() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appendingPathComponent("file")
        try Data("precious".utf8).write(to: file)
        let error = #expect(throws: DiskCacheError.self) { try DiskCache(at: file) }
        #expect(error?.kind == .notAFolder && error?.path == file.path)
        #expect(try Data(contentsOf: file) == Data("precious".utf8))
        let below = #expect(throws: DiskCacheError.self) { try DiskCache(at: file.appendingPathComponent("x")) }
        #expect(below?.kind == .notAFolder)
        let disk = try DiskCache(at: file, replacesFile: true)
        disk.store(Self.answer("one"), for: Self.key("/1"))
        #expect(try await disk.answer(for: Self.key("/1")).body == Data("one".utf8))
        await disk.flush()  // The test deletes its folder when it ends.
    }

    @Test func `the path of the disk cache's standard folder is passed through all path filters in order`() {
        let folder = DiskCache.standardFolder(
            named: "Forum",
            filters: [{ $0.appendingPathComponent("v2") }, { $0.appendingPathComponent("test") }]
        )

        #expect(folder.path.hasSuffix("/Forum/v2/test"))
    }

    @Test
    func `a disk cache entry that was removed by key, partition, rule or with all entries is not found`()
        async throws
    {
        let disk = try DiskCache(at: folder.url)
        let ada = CachePartition(service: "topics", environment: "release", user: "ada")
        let test = CachePartition(service: "topics", environment: "test")
        let keys = [Self.key("/1"), Self.key("/2"), Self.key("/1", ada), Self.key("/1", test)]
        func left(after remove: (DiskCache) -> Void, flushing: Bool) async -> Int {
            for key in keys { disk.store(Self.answer("x", tags: ["t\(key.parts.path)"]), for: key) }
            if flushing { await disk.flush() }
            remove(disk)
            var count = 0
            for key in keys where (try? await disk.answer(for: key)) != nil { count += 1 }
            return count
        }

        for flushing in [true, false] {
            #expect(await left(after: { $0.remove(keys[0]) }, flushing: flushing) == 3)
            #expect(await left(after: { $0.removeAll(in: ada) }, flushing: flushing) == 3)
            #expect(await left(after: { $0.removeAll(in: Self.topics) }, flushing: flushing) == 1)
            #expect(await left(after: { $0.removeAll { $0.tags.contains("t/1") } }, flushing: flushing) == 1)
            #expect(await left(after: { $0.removeAll { $0.partition.user == "ada" } }, flushing: flushing) == 3)
            #expect(await left(after: { $0.removeAll() }, flushing: flushing) == 0)
        }
        await disk.flush()
        #expect(folder.entries.isEmpty)
    }

    @Test func `disk cache entries are encrypted, and a cache with another key cannot read them`() async throws {
        func seal(_ mask: UInt8) -> DiskEncryption {
            DiskEncryption(seal: { Data($0.map { $0 ^ mask }) }, open: { Data($0.map { $0 ^ mask }) })
        }
        let disk = try DiskCache(at: folder.url, seal: seal(0x5A))
        disk.store(Self.answer("plain words"), for: Self.key("/1"))
        await disk.flush()

        let bytes = try Data(contentsOf: try #require(folder.entries.first))
        #expect(bytes.range(of: Data("plain words".utf8)) == nil)
        #expect(
            try await DiskCache(at: folder.url, seal: seal(0x5A)).answer(for: Self.key("/1"))
                == Self.answer("plain words")
        )
        for other in [seal(0x11), nil] {
            let disk = try DiskCache(at: folder.url, seal: other)
            await #expect(throws: APIError.CacheReason.invalidData) { try await disk.answer(for: Self.key("/1")) }
            disk.store(Self.answer("x"), for: Self.key("/1"))
            await disk.flush()
        }
    }

    @Test func `the checksum of a disk cache entry matches the published values of XXH64`() {
        func sum(_ text: String) -> UInt64 { Array(text.utf8).withUnsafeBytes { Checksum.of($0) } }

        #expect(sum("") == 0xEF46_DB37_51D8_E999)
        #expect(sum("a") == 0xD24E_C4F1_A98C_6E5B)
        #expect(sum("abc") == 0x44BC_2CF5_AD77_0999)
        #expect(sum("Nobody inspects the spammish repetition") == 0xFBCE_A83C_8A37_8BF1)
    }

    @Test func `the disk cache keeps the second of two responses with equal dates even while it writes the first`()
        async throws
    {
        let (hasBegun, goesOn) = (Locked(false), DispatchSemaphore(value: 0))
        let seal = DiskEncryption(
            seal: { bytes in
                hasBegun.withLock { $0 = true }
                goesOn.wait()
                return bytes
            },
            open: { $0 }
        )
        let disk = try DiskCache(at: folder.url, seal: seal)
        disk.store(Self.answer("older"), for: Self.key("/1"))
        await until { hasBegun.withLock({ $0 }) }
        disk.store(Self.answer("newer"), for: Self.key("/1"))
        for _ in 0..<2 { goesOn.signal() }
        await disk.flush()

        #expect(try await disk.answer(for: Self.key("/1")).body == Data("newer".utf8))
    }

    @Test func `a 304 does not update a different response that is stored under the same key`() async throws {
        let disk = try DiskCache(at: folder.url)
        var other = Self.answer("two")
        other.headers["ETag"] = "\"2\""
        disk.store(other, for: Self.key("/1"))

        disk.confirm(Self.key("/1"), with: Self.answer("one").headers, by: Self.answer(""))

        await disk.flush()
        await #expect(throws: APIError.CacheReason.invalidMetadata) { try await disk.answer(for: Self.key("/1")) }
    }
}
