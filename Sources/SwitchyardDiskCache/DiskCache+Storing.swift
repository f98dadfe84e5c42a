import Foundation
package import SwitchyardAPI
import SwitchyardClient
package import SwitchyardHTTP
import SwitchyardServices

extension DiskCache {
    /// Stores the response for a cache key and replaces an older response.
    package func store(_ answer: StoredResponse, for key: CacheKey) {
        let digest = key.fingerprint
        var answer = answer
        answer.appVersion = appVersion
        let record = DiskRecord(key, digest: digest, answer)
        enqueue(record, DiskName(record.partition, digest: digest))
    }

    /// Updates the stored response for a cache key after a server has revalidated the response.
    ///
    /// Nothing happens if there is no stored response with the same cache version, sensitive data and accepted media
    /// types.
    package func confirm(_ key: CacheKey, by answer: StoredResponse) {
        confirm(key, by: answer) { _ in true }
    }

    /// Updates the stored response for a cache key after a server has revalidated a response with the given validators.
    ///
    /// Nothing happens if there is no stored response with the same cache version, sensitive data and accepted media
    /// types. A stored response with other validators is removed, because another process has stored it in the meantime
    /// and the server did not revalidate it.
    ///
    /// - Parameters:
    ///   - key: The cache key.
    ///   - headers: The header fields that contain the validators of the revalidated response.
    ///   - answer: The response whose header fields and times replace those of the stored response.
    package func confirm(_ key: CacheKey, with headers: HTTPHeaders, by answer: StoredResponse) {
        let validators = HTTPCacheRules.conditions(for: headers)
        confirm(key, by: answer) { HTTPCacheRules.conditions(for: $0.headers) == validators }
    }

    private func confirm(
        _ key: CacheKey,
        by answer: StoredResponse,
        if isConfirmed: @escaping @Sendable (StoredResponse) -> Bool
    ) {
        let digest = key.fingerprint
        let name = DiskName(key.parts.partition, digest: digest)
        writing.async { [self] in
            // If a response waits to be written, it is newer than the response that was revalidated, so nothing is
            // updated.
            guard state.withLock({ $0.waiting[name] }) == nil, case .success(var record) = lookUp(name, digest),
                record.answer.version == answer.version, record.answer.sensitiveDigest == answer.sensitiveDigest,
                CacheStamp.isServed(answer.accept, by: record.answer.accept)
            else { return }
            // The new header fields must not be combined with the body of another response, because the server would
            // then keep revalidating this wrong combination.
            guard isConfirmed(record.answer) else { return discard(folder.path(of: name)) }
            record.answer.take(from: answer)
            write(record, name)
        }
    }

    private func enqueue(_ record: DiskRecord, _ name: DiskName) {
        let cost = record.cost
        guard cost <= limits.entryCost else {
            note { $0.failed(DiskCacheError(.tooLarge, path: folder.path(of: name))) }
            return remove(name)
        }
        let fits = state.withLock { state in
            let older = state.waiting[name]?.cost ?? 0
            guard state.waitingCost - older + cost <= limits.waitingCost else {
                state.statistics.failures += 1
                return false
            }
            state.waitingCost += cost - older
            state.lastNumber += 1
            state.waiting[name] = record
            state.waiting[name]?.number = state.lastNumber
            return true
        }
        // The new response cannot be stored because it would exceed a limit. The response on disk is removed, because
        // the new response shows that it is out of date.
        guard fits else { return remove(name) }
        writing.async { self.writeOut(name) }
    }

    /// Writes the waiting record of an entry, unless an earlier job has written it or it was removed.
    private func writeOut(_ name: DiskName) {
        guard let record = state.withLock({ $0.waiting[name] }) else { return }
        write(record, name)
        state.withLock { state in
            // If the entry has a newer record, a separate job writes the newer record.
            guard let waiting = state.waiting[name], waiting.number == record.number else { return }
            state.waiting[name] = nil
            state.waitingCost -= waiting.cost
        }
    }

    /// Writes a record to a temporary file, flushes the file, adds its size to the ledger and moves it to its final
    /// path.
    private func write(_ record: DiskRecord, _ name: DiskName) {
        do throws(DiskCacheError) {
            let bytes = try sealed(record, name)
            let ledger = try openLedger()
            let aside = try folder.writeTemporary(bytes, as: nextName())
            try ledger.update { (count: inout Int?) throws(DiskCacheError) in
                try place(aside, name, size: bytes.count, &count)
            }
            note { $0.stores += 1 }
        } catch {
            note { $0.failed(error) }
            // The file at this path is older than the record that could not be stored, so it is removed.
            unlink(folder.path(of: name))
        }
    }

    private func sealed(_ record: DiskRecord, _ name: DiskName) throws(DiskCacheError) -> Data {
        do {
            return try record.encoded(seal)
        } catch {
            throw DiskCacheError(.sealFailed, path: folder.path(of: name))
        }
    }

    /// Makes room for a file and moves it to its final path.
    ///
    /// The total size is increased before the move, so that the total is not too low if the process is killed.
    private func place(_ aside: String, _ name: DiskName, size: Int, _ count: inout Int?) throws(DiskCacheError) {
        let isCounted = state.withLock { $0.isCounted }
        if !isCounted || count == nil { count = sweep(toFit: size, always: false) }
        state.withLock { $0.isCounted = true }
        let older = folder.size(of: folder.path(of: name))
        if (count ?? 0) + size - older > limits.cost { count = sweep(toFit: size, always: true) }
        let before = count ?? 0
        count = before + size
        do throws(DiskCacheError) {
            let replaced = folder.size(of: folder.path(of: name))
            try folder.move(aside, to: name)
            count = max(0, before + size - replaced)
        } catch {
            count = before
            throw error
        }
    }

    /// Counts all entries, and removes the least recently used entries if necessary.
    ///
    /// Entries are removed if there is too little space for a file of this size, or if `always` is `true`. They are
    /// removed until the file fits and a tenth of the limit remains free.
    private func sweep(toFit size: Int, always: Bool) -> Int {
        folder.removeLeftovers()
        let files = folder.files
        var total = files.reduce(0) { $0 + $1.size }
        guard always || total + size > limits.cost else { return total }
        let goal = max(0, limits.cost - limits.cost / 10 - size)
        var evictions = 0
        for file in files.sorted(by: { $0.used < $1.used }) where total > goal {
            guard unlink(file.path) == 0 || errno == ENOENT else { continue }
            total -= file.size
            evictions += 1
        }
        note { [evictions] in $0.evictions += evictions }
        return total
    }

    private func nextName() -> String {
        state.withLock { state in
            state.writes += 1
            return "\(state.instance)-\(state.writes)"
        }
    }

    private func openLedger() throws(DiskCacheError) -> DiskLedger {
        if let ledger = state.withLock({ $0.ledger }) { return ledger }
        let new = try DiskLedger(of: folder)
        state.withLock { $0.ledger = new }
        return new
    }

    /// Removes a file and subtracts its size from the total size.
    func discard(_ path: String) {
        do throws(DiskCacheError) {
            try openLedger().update { count in
                let size = folder.size(of: path)
                if unlink(path) == 0 { count = count.map { max(0, $0 - size) } }
            }
        } catch {
            note { $0.failed(error) }
        }
    }
}

extension DiskRecord {
    /// The approximate size of the record on disk, in bytes.
    var cost: Int {
        answer.body.count + answer.headers.reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 }
    }
}
