public import Foundation
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// Answers on disk, for the time after a start and for answers that memory has no room for.
///
///     let disk = try DiskCache(at: DiskCache.standardFolder())
///     client.responseCache = ResponseCache(disk: disk)
///
/// - Each entry is one file, written aside, brought to the disk and then put in place in one step: whoever is killed at
///   any moment leaves whole entries behind. A checksum tells damage, and damage is a miss.
/// - The entries take no more bytes than allowed; those that were used longest ago go first.
/// - Several processes may share a folder. On Apple systems that is one of an app group, and an app that is suspended
///   in the moment in which an entry is put in place there is ended by the system (0xdead10cc).
/// - Writing and removing happen on a queue of their own, in order; reading never waits for writing. What was stored is
///   found at once, and what was removed is not found any more, also while the disk is behind.
/// - A disk that refuses is no failure of a call; ``statistics`` tell.
public final class DiskCache: AnswerStore {
    /// The most that a disk cache keeps.
    public struct Limits: Sendable, Hashable {
        /// Bytes in all; default is 100 MiB.
        public var cost: Int
        /// Bytes of one entry; default is an eighth of all.
        public var entryCost: Int
        /// Bytes that may wait for a slow disk; what comes beyond is not stored.
        ///
        /// Default is 16 MiB.
        public var waitingCost: Int

        /// Creates limits; negative ones are taken for 0.
        public init(cost: Int = 100 << 20, entryCost: Int? = nil, waitingCost: Int = 16 << 20) {
            self.cost = max(0, cost)
            self.entryCost = max(0, min(entryCost ?? cost / 8, cost))
            self.waitingCost = max(0, waitingCost)
        }
    }

    /// The most that the cache keeps.
    public let limits: Limits
    /// The version of the app; answers that another one stored are refused.
    ///
    /// `nil` when it plays no part.
    public let appVersion: String?
    let folder: DiskFolder
    let seal: DiskSeal?
    let state = Locked(State())
    let writing = DispatchQueue(label: "switchyard.disk-cache.writing", qos: .utility)
    private let reading = DispatchQueue(label: "switchyard.disk-cache.reading", attributes: .concurrent)

    /// Opens a folder, which costs the same however many entries there are.
    ///
    /// - Parameters:
    ///   - folder: The folder; it is made when it is not there, and kept out of backups on Apple systems.
    ///   - limits: The most that the cache keeps; 100 MiB unless given.
    ///   - appVersion: The version of the app; the main bundle's unless given, `nil` when it is to play no part.
    ///   - seal: Keeps the entries from other eyes; none unless given.
    ///   - replacesFile: Whether a file that is in the folder's place is removed; default is `false`.
    /// - Throws: ``DiskCacheError`` when the folder is not there and cannot be made. A folder that may only be read is no
    ///   failure: its answers are found, and new ones are not stored.
    public init(
        at folder: URL,
        limits: Limits = Limits(),
        appVersion: String? = DiskCache.bundleVersion,
        seal: DiskSeal? = nil,
        replacesFile: Bool = false
    ) throws(DiskCacheError) {
        self.folder = try DiskFolder(folder, replacesFile: replacesFile)
        self.limits = limits
        self.appVersion = appVersion
        self.seal = seal
    }

    /// A folder in the place that the system has for caches.
    ///
    /// - Parameters:
    ///   - name: The name of the folder.
    ///   - filters: Each gets what the one before it made of the folder, as in YTKNetwork.
    /// - Returns: The folder.
    public static func standardFolder(named name: String = "Switchyard", filters: [(URL) -> URL] = []) -> URL {
        let manager = FileManager.default
        let place = manager.urls(for: .cachesDirectory, in: .userDomainMask).first ?? manager.temporaryDirectory
        return filters.reduce(place.appendingPathComponent(name)) { $1($0) }
    }

    /// The version of the main bundle; `nil` when it says none, as on Linux.
    public static var bundleVersion: String? {
        Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String
    }

    /// The answer stored under a key.
    ///
    /// - Throws: ``APIError/CacheReason/invalidMetadata`` when there is none, ``APIError/CacheReason/invalidData`` when it
    ///   is damaged.
    public func answer(for key: CacheKey) async throws(APIError.CacheReason) -> StoredAnswer {
        let digest = key.fingerprint
        let name = DiskName(key.parts.partition, digest: digest)
        let (waiting, isRemoving) = state.withLock { ($0.waiting[name]?.answer, $0.removals > 0) }
        if let waiting { return waiting }
        // Behind removals that are under way, so that nothing is found that was removed.
        let queue = isRemoving ? writing : reading
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.lookUp(name, digest)) }
        }
        return try result.get().answer
    }

    /// Waits until everything that was stored and removed before is on the disk.
    public func flush() async {
        await withCheckedContinuation { continuation in
            writing.async { continuation.resume() }
        }
    }

    /// Reads an entry; one that is damaged is removed.
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

    /// What an entry may take beyond its body: the fields.
    static let overhead = 1 << 20

    private func read(_ bytes: Data, at path: String, _ digest: Data) -> Result<DiskRecord, APIError.CacheReason> {
        do throws(DiskRecord.Failure) {
            let record = try DiskRecord(bytes, seal)
            guard record.digest == digest else { throw .damaged }
            note { $0.hits += 1 }
            return .success(record)
        } catch {
            note { $0.damaged += 1 }
            // What a newer library wrote is whole, and not ours to remove.
            guard error == .damaged else { return .failure(.invalidMetadata) }
            writing.async { self.discard(path) }
            return .failure(.invalidData)
        }
    }
}

extension DiskCache {
    /// What has happened since the cache was opened.
    public struct Statistics: Sendable, Hashable {
        /// Answers found.
        public internal(set) var hits = 0
        /// Answers not found.
        public internal(set) var misses = 0
        /// Answers stored.
        public internal(set) var stores = 0
        /// Entries that were not whole, or not readable by this version.
        public internal(set) var damaged = 0
        /// Entries that went because there was no room.
        public internal(set) var evictions = 0
        /// Answers that were not stored, and reads that the system refused.
        public internal(set) var failures = 0
        /// Why, the last time.
        public internal(set) var lastError: DiskCacheError?

        mutating func failed(_ error: DiskCacheError) {
            failures += 1
            lastError = error
        }
    }

    /// What has happened since the cache was opened.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    func note(_ change: (inout Statistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }

    /// What the cache keeps behind its lock.
    struct State: Sendable {
        /// Entries that are not on the disk yet.
        var waiting: [DiskName: DiskRecord] = [:]
        var waitingCost = 0
        /// The number of the record that came last.
        var lastNumber = 0
        /// How many removals are not carried out yet.
        var removals = 0
        /// Tells the files that this cache writes from those of any other on the folder, in whatever process or container.
        let instance = String(UInt64.random(in: .min ... .max), radix: 16)
        var writes = 0
        var statistics = Statistics()
        var ledger: DiskLedger?
        /// Whether the entries were counted since the cache was opened.
        var isCounted = false
    }
}

extension DiskCache {
    /// Removes the answer of a key.
    public func remove(_ key: CacheKey) {
        remove(DiskName(key.parts.partition, digest: key.fingerprint))
    }

    func remove(_ name: DiskName) {
        removing(names: { $0 == name }) { cache in
            cache.discard(cache.folder.path(of: name))
        }
    }

    /// Removes everything.
    public func removeAll() {
        removing(names: { _ in true }) { cache in
            for file in cache.folder.files { cache.discard(file.path) }
        }
    }

    /// Removes the answers of a partition, those of all users when it names none.
    public func removeAll(in partition: CachePartition) {
        let prefix = partition.user == nil ? DiskName.prefix(of: partition) : DiskName.folder(of: partition)
        removing(names: { $0.partition.hasPrefix(prefix) }) { cache in
            for folder in cache.folder.partitions(beginningWith: prefix) {
                for file in cache.folder.files(of: folder) { cache.discard(file.path) }
            }
        }
    }

    /// Removes the answers of a service in an environment that are no named user's, without a look at others.
    public func removeUnnamed(in partition: CachePartition) {
        let folder = DiskName.folder(of: partition.withoutUser)
        removing(names: { $0.partition == folder }) { cache in
            for file in cache.folder.files(of: folder) { cache.discard(file.path) }
        }
    }

    /// Removes the answers that a rule names; every entry is read for that.
    ///
    /// - Parameter rule: Called on the cache's own queue, and at once for what is not on the disk yet.
    public func removeAll(where rule: @escaping @Sendable (ResponseCache.Candidate) -> Bool) {
        let now = Date()
        removing(records: { rule(ResponseCache.Candidate($0, now: now)) }) { cache in
            cache.discardFiles { rule(ResponseCache.Candidate($0, now: now)) }
        }
    }

    /// Removes the answers that may not be used any more, and what is damaged.
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
        // The rule is the caller's: it is not called under the lock.
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
    /// Drops what is not on the disk yet.
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
