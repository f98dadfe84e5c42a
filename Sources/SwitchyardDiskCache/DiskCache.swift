public import Foundation
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// A cache of responses on disk.
///
/// It survives a restart of the app and can store responses that do not fit in memory.
///
///     let disk = try DiskCache(at: DiskCache.standardFolder())
///     client.responseCache = ResponseCache(disk: disk)
///
/// - Each entry is one file. It is written to a temporary path, flushed and then moved to its final path atomically, so
///   a process that is killed at any moment leaves only complete entries. A checksum detects damage, and a damaged
///   entry is a cache miss.
/// - The size of all entries is limited in bytes. The least recently used entries are evicted first.
/// - Several processes may share a folder. On Apple systems, the shared folder is that of an app group. An app that is
///   suspended at the moment at which it moves an entry to its final path in such a folder is killed by the system
///   (0xdead10cc).
/// - Writing and removing happen in order on a separate queue, and reading never waits for writing. A stored response
///   is found immediately, and a removed response is no longer found, even before the disk is updated.
/// - An error of the disk does not fail a call. It is counted in ``statistics``.
public final class DiskCache: ResponseStore {
    /// The limits of a disk cache.
    public struct Limits: Sendable, Hashable {
        /// The maximum size of all entries in bytes, 100 MiB by default; beyond it, entries are evicted.
        public var cost: Int
        /// The maximum size of one entry in bytes, an eighth of `cost` by default; a larger response is not stored.
        public var entryCost: Int
        /// The maximum size of the entries that wait to be written to a slow disk, in bytes, 16 MiB by default.
        ///
        /// Entries beyond this size are not stored.
        public var waitingCost: Int

        /// Creates limits.
        ///
        /// A negative limit counts as 0.
        public init(cost: Int = 100 << 20, entryCost: Int? = nil, waitingCost: Int = 16 << 20) {
            self.cost = max(0, cost)
            self.entryCost = max(0, min(entryCost ?? cost / 8, cost))
            self.waitingCost = max(0, waitingCost)
        }
    }

    /// The limits of the cache.
    public let limits: Limits
    /// The version of the app.
    ///
    /// Responses that were stored by another version are not used.
    ///
    /// If `nil`, the version is ignored.
    public let appVersion: String?
    let folder: DiskFolder
    let seal: DiskEncryption?
    let state = Locked(State())
    let writing = DispatchQueue(label: "switchyard.disk-cache.writing", qos: .utility)
    private let reading = DispatchQueue(label: "switchyard.disk-cache.reading", attributes: .concurrent)

    /// Opens a folder.
    ///
    /// The time to open a folder does not depend on the number of entries.
    ///
    /// - Parameters:
    ///   - folder: The folder, which is created if it does not exist. On Apple systems it is excluded from backups.
    ///   - limits: The limits of the cache, 100 MiB in total by default.
    ///   - appVersion: The version of the app, by default the main bundle's. If `nil`, the version is ignored.
    ///   - seal: The encryption of the entries, none by default.
    ///   - replacesFile: Whether a file at the folder's path is removed, `false` by default.
    /// - Throws: ``DiskCacheError`` if the folder does not exist and cannot be created. A read-only folder is not an
    ///   error: its responses are found, and new responses are not stored.
    public init(
        at folder: URL,
        limits: Limits = Limits(),
        appVersion: String? = DiskCache.bundleVersion,
        seal: DiskEncryption? = nil,
        replacesFile: Bool = false
    ) throws(DiskCacheError) {
        self.folder = try DiskFolder(folder, replacesFile: replacesFile)
        self.limits = limits
        self.appVersion = appVersion
        self.seal = seal
    }

    /// Returns a folder in the system's location for caches.
    ///
    /// - Parameters:
    ///   - name: The name of the folder.
    ///   - filters: Closures that change the folder's URL. Each closure receives the result of the closure before it,
    ///     as in YTKNetwork.
    /// - Returns: The URL of the folder.
    public static func standardFolder(named name: String = "Switchyard", filters: [(URL) -> URL] = []) -> URL {
        let manager = FileManager.default
        let place = manager.urls(for: .cachesDirectory, in: .userDomainMask).first ?? manager.temporaryDirectory
        return filters.reduce(place.appendingPathComponent(name)) { $1($0) }
    }

    /// The version of the main bundle, or `nil` if it has none, as on Linux.
    public static var bundleVersion: String? {
        Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String
    }

    /// Returns the stored response for a cache key.
    ///
    /// - Throws: ``APIError/CacheReason/invalidMetadata`` if there is no stored response,
    ///   ``APIError/CacheReason/invalidData`` if the stored response is damaged.
    package func answer(for key: CacheKey) async throws(APIError.CacheReason) -> StoredResponse {
        let digest = key.fingerprint
        let name = DiskName(key.parts.partition, digest: digest)
        let (waiting, isRemoving) = state.withLock { ($0.waiting[name]?.answer, $0.removals > 0) }
        if let waiting { return waiting }
        // While removals are pending, entries are read on the queue that performs the removals, so that no removed
        // response is found.
        let queue = isRemoving ? writing : reading
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.lookUp(name, digest)) }
        }
        return try result.get().answer
    }

    /// Waits until all earlier stores and removals have been carried out on disk.
    public func flush() async {
        await withCheckedContinuation { continuation in
            writing.async { continuation.resume() }
        }
    }

    /// Reads an entry.
    ///
    /// If the entry is damaged, it is removed.
    func lookUp(_ name: DiskName, _ digest: Data) -> Result<DiskRecord, APIError.CacheReason> {
        let path = folder.path(of: name)
        do throws(DiskCacheError) {
            let limit = min(limits.entryCost, .max - Self.overhead) + Self.overhead
            guard let bytes = try folder.read(path, limit: limit, marksUse: true) else {
                note { $0.misses += 1 }
                return .failure(.invalidMetadata)
            }
            return read(bytes, at: path, digest)
        } catch {
            note { $0.failed(error) }
            return .failure(.invalidMetadata)
        }
    }

    /// The maximum number of bytes of an entry in addition to its body, such as header fields.
    static let overhead = 1 << 20

    private func read(_ bytes: Data, at path: String, _ digest: Data) -> Result<DiskRecord, APIError.CacheReason> {
        do throws(DiskRecord.Failure) {
            let record = try DiskRecord(bytes, seal)
            guard record.digest == digest else { throw .damaged }
            note { $0.hits += 1 }
            return .success(record)
        } catch {
            note { $0.damaged += 1 }
            // An entry of a newer version of this library is intact and must not be removed.
            guard error == .damaged else { return .failure(.invalidMetadata) }
            writing.async { self.discard(path) }
            return .failure(.invalidData)
        }
    }
}

extension DiskCache {
    /// The numbers of hits, misses and other events since the cache was opened.
    public struct Statistics: Sendable, Hashable {
        /// The number of responses that were found.
        public internal(set) var hits = 0
        /// The number of responses that were not found.
        public internal(set) var misses = 0
        /// The number of responses that were stored.
        public internal(set) var stores = 0
        /// The number of entries that were damaged or were written in a newer format.
        public internal(set) var damaged = 0
        /// The number of entries that were evicted to free space.
        public internal(set) var evictions = 0
        /// The number of responses that could not be stored and of reads that failed with a system error.
        public internal(set) var failures = 0
        /// The error of the most recent failure.
        public internal(set) var lastError: DiskCacheError?

        mutating func failed(_ error: DiskCacheError) {
            failures += 1
            lastError = error
        }
    }

    /// The numbers of hits, misses and other events since the cache was opened.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    func note(_ change: (inout Statistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }

    /// The state that the cache protects with its lock.
    struct State: Sendable {
        /// The entries that wait to be written to disk.
        var waiting: [DiskName: DiskRecord] = [:]
        var waitingCost = 0
        /// The sequence number of the latest record that was queued for writing.
        var lastNumber = 0
        /// The number of removals that have not been carried out yet.
        var removals = 0
        /// A random identifier in the names of this cache's temporary files.
        ///
        /// It keeps these names distinct from the names that any other cache of the folder uses, in any process or app
        /// container.
        let instance = String(UInt64.random(in: .min ... .max), radix: 16)
        var writes = 0
        var statistics = Statistics()
        var ledger: DiskLedger?
        /// Whether the entries have been counted since the cache was opened.
        var isCounted = false
    }
}

extension DiskCache {
    /// Removes the response for a cache key.
    package func remove(_ key: CacheKey) {
        remove(DiskName(key.parts.partition, digest: key.fingerprint))
    }

    func remove(_ name: DiskName) {
        removing(names: { $0 == name }) { cache in
            cache.discard(cache.folder.path(of: name))
        }
    }

    /// Removes all responses.
    public func removeAll() {
        removing(names: { _ in true }) { cache in
            for file in cache.folder.files { cache.discard(file.path) }
        }
    }

    /// Removes the responses of a partition.
    ///
    /// If the partition has no user, the responses of all users are removed.
    package func removeAll(in partition: CachePartition) {
        let prefix = partition.user == nil ? DiskName.prefix(of: partition) : DiskName.folder(of: partition)
        removing(names: { $0.partition.hasPrefix(prefix) }) { cache in
            for folder in cache.folder.partitions(beginningWith: prefix) {
                for file in cache.folder.files(of: folder) { cache.discard(file.path) }
            }
        }
    }

    /// Removes the responses of the partition's service and environment that belong to no named user.
    ///
    /// Responses of other partitions are not read.
    package func removeUnnamed(in partition: CachePartition) {
        let folder = DiskName.folder(of: partition.withoutUser)
        removing(names: { $0.partition == folder }) { cache in
            for file in cache.folder.files(of: folder) { cache.discard(file.path) }
        }
    }

    /// Removes the responses for which a closure returns `true`.
    ///
    /// To apply the closure, the cache reads every entry.
    ///
    /// - Parameter rule: A closure that returns whether to remove a response. It is called on the cache's queue for
    ///   responses on disk, and on the caller's thread for responses that wait to be written.
    public func removeAll(where rule: @escaping @Sendable (ResponseCache.Candidate) -> Bool) {
        let now = Date()
        removing(records: { rule(ResponseCache.Candidate($0, now: now)) }) { cache in
            cache.discardFiles { rule(ResponseCache.Candidate($0, now: now)) }
        }
    }

    /// Removes expired responses and damaged entries.
    public func removeExpired() {
        let now = Date()
        removing(records: { _ in false }) { cache in
            cache.discardFiles { $0.answer.hasExpired(at: now) }
        }
    }

    private func discardFiles(where rule: (DiskRecord) -> Bool) {
        for file in folder.files {
            guard let bytes = try? folder.read(file.path, limit: .max, marksUse: false) else { continue }
            do throws(DiskRecord.Failure) {
                if rule(try DiskRecord(bytes, seal)) { discard(file.path) }
            } catch {
                if error == .damaged { discard(file.path) }
            }
        }
    }

    private func removing(names: (DiskName) -> Bool, then job: @escaping @Sendable (DiskCache) -> Void) {
        state.withLock { state in
            state.drop { name, _ in names(name) }
            state.removals += 1
        }
        carryOut(job)
    }

    private func removing(
        records: (DiskRecord) -> Bool,
        then job: @escaping @Sendable (DiskCache) -> Void
    ) {
        // The rule is a closure of the app, so it is not called under the lock.
        let doomed = state.withLock { $0.waiting }.filter { records($0.value) }
        state.withLock { state in
            state.drop { name, record in doomed[name]?.number == record.number }
            state.removals += 1
        }
        carryOut(job)
    }

    private func carryOut(_ job: @escaping @Sendable (DiskCache) -> Void) {
        writing.async { [self] in
            job(self)
            state.withLock { $0.removals -= 1 }
        }
    }
}

extension DiskCache.State {
    /// Drops the matching entries that wait to be written to disk.
    fileprivate mutating func drop(where rule: (DiskName, DiskRecord) -> Bool) {
        for (name, record) in waiting where rule(name, record) {
            waiting[name] = nil
            waitingCost -= record.cost
        }
    }
}

extension ResponseCache.Candidate {
    init(_ record: DiskRecord, now: Date) {
        self.init(
            partition: record.partition,
            method: record.method,
            path: record.path,
            tags: record.answer.tags,
            age: Duration(clampingSeconds: now.timeIntervalSince(record.answer.created)),
            cost: record.answer.body.count
        )
    }
}
