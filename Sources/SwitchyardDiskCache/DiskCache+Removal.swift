import Foundation
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

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
            guard let bytes = try? folder.read(file.path, limit: .max) else { continue }
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
