import Foundation
import SwitchyardClient
import SwitchyardServices

extension Outbox {
    /// Removes the writes with a key, of the current environment and user, and waits until none of them is in flight.
    ///
    /// Call it before a direct write to the same resource, because an older stored write would overwrite that one
    /// later.
    ///
    ///     try await outbox.remove(replacementKey: "note 7")
    ///     try await notes.value(Note.self, for: .saving(note))
    ///
    /// A write that is in flight is not cancelled. If the server accepts it, it is reported as
    /// ``OutboxEvent/sent(_:_:)``, otherwise it is dropped. A server that has not responded may still execute it later
    /// (``OutboxEntry/mayHaveBeenExecuted``).
    ///
    /// - Parameter key: The key that the writes were stored with.
    /// - Returns: The writes that were dropped.
    /// - Throws: ``OutboxError/file(_:)`` or ``OutboxError/closed``. The writes that were not dropped before the error
    ///   stay in the outbox.
    @discardableResult
    public func remove(replacementKey key: String) async throws(OutboxError) -> [OutboxEntry] {
        let environment = client.environment
        let user = client.user(in: environment)
        let slot = OutboxEntry.Slot(key: key, environment: environment.rawValue, user: user)
        var removal = OutboxRemoval()
        let last: OutboxEntry? = await withCheckedContinuation { continuation in
            // Both happen in one step, so that no write of the slot begins to be sent in between.
            let (isWaiting, done) = state.withLock { state in
                let done = state.remove(slot)
                return (done.error == nil && state.withdraw(slot, telling: continuation), done)
            }
            removal = done
            if !isWaiting { continuation.resume(returning: nil) }
        }
        if let error = removal.error { throw error }
        return removal.dropped + [last].compactMap(\.self)
    }

    /// Marks a write as in flight, unless it was removed meanwhile.
    func begin(_ id: OutboxEntry.ID) -> Bool {
        state.withLock { state in
            guard let entry = state.entries.first(where: { $0.id == id }) else { return false }
            state.underWay = WriteUnderWay(id: id, slot: entry.slot)
            return true
        }
    }

    /// Ends the write that was in flight, and drops it if it was replaced or withdrawn and is still stored.
    func settle() {
        guard let (write, dropped) = state.withLock({ $0.settle() }) else { return }
        if let dropped, let newer = write.replacement { tell(.replaced(dropped, by: newer)) }
        for waiter in write.waiters { waiter.resume(returning: dropped) }
    }
}

/// The writes that were removed from an outbox, and the error that ended the removal.
struct OutboxRemoval {
    var dropped: [OutboxEntry] = []
    var error: OutboxError?
}

/// A write that is in flight, and what happens to it if the server does not accept it.
struct WriteUnderWay {
    let id: OutboxEntry.ID
    /// The slot of the write, which is still known after the entry was removed.
    let slot: OutboxEntry.Slot?
    /// The newer write that replaces it.
    var replacement: OutboxEntry?
    /// The callers that have withdrawn the write and wait until it ends.
    var waiters: [CheckedContinuation<OutboxEntry?, Never>] = []

    var stays: Bool { replacement == nil && waiters.isEmpty }
}

extension Outbox.State {
    /// Returns the writes of a slot that are not in flight.
    func idle(in slot: OutboxEntry.Slot?) -> [OutboxEntry] {
        guard let slot else { return [] }
        return entries.filter { $0.slot == slot && $0.id != underWay?.id }
    }

    /// The writes that the file must keep, without a write in flight that was replaced.
    var lasting: [OutboxEntry] {
        guard let underWay, underWay.replacement != nil else { return entries }
        return entries.filter { $0.id != underWay.id }
    }

    /// Removes a write, and returns whether it was stored.
    @discardableResult
    mutating func remove(_ id: OutboxEntry.ID) throws(OutboxError) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        try file.append(.done(id))
        entries.remove(at: index)
        // The write is already removed, and a later call can compact the file.
        try? file.compact(keeping: lasting)
        return true
    }

    /// Removes the writes of a slot that are not in flight, up to the first error.
    mutating func remove(_ slot: OutboxEntry.Slot) -> OutboxRemoval {
        var removal = OutboxRemoval()
        for entry in idle(in: slot) {
            do throws(OutboxError) {
                try remove(entry.id)
                removal.dropped.append(entry)
            } catch {
                removal.error = error
                break
            }
        }
        return removal
    }

    /// Drops the writes that a newer write replaces, which the newer write's record in the file already implies.
    mutating func replace(_ slot: OutboxEntry.Slot?, by entry: OutboxEntry) -> [OutboxEntry] {
        let replaced = idle(in: slot)
        for old in replaced { drop(old.id) }
        if let slot, entries.contains(where: { $0.id == underWay?.id && $0.slot == slot }) {
            underWay?.replacement = entry
        }
        return replaced
    }

    /// Marks the write of a slot that is in flight to be dropped when it ends, and returns whether there is one.
    mutating func withdraw(
        _ slot: OutboxEntry.Slot,
        telling waiter: CheckedContinuation<OutboxEntry?, Never>
    ) -> Bool {
        guard underWay?.slot == slot else { return false }
        underWay?.waiters.append(waiter)
        return true
    }

    /// Ends the write that was in flight, and drops it if it was replaced or withdrawn.
    mutating func settle() -> (write: WriteUnderWay, dropped: OutboxEntry?)? {
        guard let write = underWay else { return nil }
        underWay = nil
        guard !write.stays, let entry = entries.first(where: { $0.id == write.id }) else { return (write, nil) }
        drop(write.id)
        return (write, entry)
    }

    /// Drops a write, even if the file cannot be written.
    ///
    /// In that case, the file either has a newer record that replaces the write, or the write is sent again with its
    /// key after a restart.
    private mutating func drop(_ id: OutboxEntry.ID) {
        entries.removeAll { $0.id == id }
        try? file.append(.done(id))
    }
}
