import Foundation
import SwitchyardClient
import SwitchyardServices

extension Outbox {
    /// Removes the stored requests with a replacement key, for the current environment and user.
    ///
    /// Call this function before you change the same resource with a direct request. Otherwise, an older stored request
    /// would be sent later and overwrite your change.
    ///
    ///     try await outbox.remove(replacementKey: "note 7")
    ///     try await notes.value(Note.self, for: .saving(note))
    ///
    /// A request that is in flight is not cancelled, and the function waits until that request ends. If the server
    /// accepts the request, the request is reported as ``OutboxEvent/sent(_:_:)``. Otherwise, the request is dropped. A
    /// server that has not responded may still execute the request later (``OutboxEntry/mayHaveBeenExecuted``).
    ///
    /// - Parameter key: The replacement key that the requests were stored with.
    /// - Returns: The requests that were dropped.
    /// - Throws: ``OutboxError/file(_:)`` or ``OutboxError/closed``. The requests that were not dropped before the
    ///   error stay in the outbox.
    @discardableResult
    public func remove(replacementKey key: String) async throws(OutboxError) -> [OutboxEntry] {
        let environment = client.environment
        let user = client.user(in: environment)
        let slot = OutboxEntry.Slot(key: key, environment: environment.rawValue, user: user)
        var removal = OutboxRemoval()
        let last: OutboxEntry? = await withCheckedContinuation { continuation in
            // Stored requests are removed and the request in flight is withdrawn under one lock. With two locks, a
            // request with this replacement key could start to be sent in between.
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

    /// Marks a request as in flight, or returns `false` if it has been removed from the outbox.
    func begin(_ id: OutboxEntry.ID) -> Bool {
        state.withLock { state in
            guard let entry = state.entries.first(where: { $0.id == id }) else { return false }
            state.underWay = WriteUnderWay(id: id, slot: entry.slot)
            return true
        }
    }

    /// Handles the end of the request that was in flight.
    ///
    /// The request is dropped if it is still stored and was replaced or withdrawn.
    func settle() {
        guard let (write, dropped) = state.withLock({ $0.settle() }) else { return }
        if let dropped, let newer = write.replacement { tell(.replaced(dropped, by: newer)) }
        for waiter in write.waiters { waiter.resume(returning: dropped) }
    }
}

/// The requests that were removed from an outbox, and the error that stopped the removal.
struct OutboxRemoval {
    var dropped: [OutboxEntry] = []
    var error: OutboxError?
}

/// A stored request that is in flight, and whether it is dropped if the server does not accept it.
struct WriteUnderWay {
    let id: OutboxEntry.ID
    /// The replacement key of the request with its environment and user, or `nil` without a replacement key.
    ///
    /// It is copied here because it is needed after the entry has been removed.
    let slot: OutboxEntry.Slot?
    /// The newer request that replaces this request.
    var replacement: OutboxEntry?
    /// The callers of ``Outbox/remove(replacementKey:)`` that have withdrawn the request and wait until it ends.
    var waiters: [CheckedContinuation<OutboxEntry?, Never>] = []

    var stays: Bool { replacement == nil && waiters.isEmpty }
}

extension Outbox.State {
    /// Returns the requests of a slot that are not in flight.
    func idle(in slot: OutboxEntry.Slot?) -> [OutboxEntry] {
        guard let slot else { return [] }
        return entries.filter { $0.slot == slot && $0.id != underWay?.id }
    }

    /// The requests that the file must keep: all stored requests except a request in flight that was replaced.
    var lasting: [OutboxEntry] {
        guard let underWay, underWay.replacement != nil else { return entries }
        return entries.filter { $0.id != underWay.id }
    }

    /// Removes a request, and returns whether it was stored.
    @discardableResult
    mutating func remove(_ id: OutboxEntry.ID) throws(OutboxError) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        try file.append(.done(id))
        entries.remove(at: index)
        // If compaction fails, the request is still removed. A later call can compact the file.
        try? file.compact(keeping: lasting)
        return true
    }

    /// Removes the requests of a slot that are not in flight, and stops at the first error.
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

    /// Drops the requests that a newer request replaces.
    ///
    /// The file needs no further record to be correct, because the record of the newer request already implies the
    /// replacement.
    mutating func replace(_ slot: OutboxEntry.Slot?, by entry: OutboxEntry) -> [OutboxEntry] {
        let replaced = idle(in: slot)
        for old in replaced { drop(old.id) }
        if let slot, entries.contains(where: { $0.id == underWay?.id && $0.slot == slot }) {
            underWay?.replacement = entry
        }
        return replaced
    }

    /// If the request in flight belongs to the slot, marks it to be dropped when it ends.
    ///
    /// Returns `false` if no request of the slot is in flight.
    mutating func withdraw(
        _ slot: OutboxEntry.Slot,
        telling waiter: CheckedContinuation<OutboxEntry?, Never>
    ) -> Bool {
        guard underWay?.slot == slot else { return false }
        underWay?.waiters.append(waiter)
        return true
    }

    /// Ends the request that was in flight.
    ///
    /// The request is dropped if it was replaced or withdrawn.
    mutating func settle() -> (write: WriteUnderWay, dropped: OutboxEntry?)? {
        guard let write = underWay else { return nil }
        underWay = nil
        guard !write.stays, let entry = entries.first(where: { $0.id == write.id }) else { return (write, nil) }
        drop(write.id)
        return (write, entry)
    }

    /// Drops a request, even if the file cannot be written.
    ///
    /// If the file cannot be written, either it already contains a newer record that replaces the request, or the
    /// request is sent again with its idempotency key after a restart.
    private mutating func drop(_ id: OutboxEntry.ID) {
        entries.removeAll { $0.id == id }
        try? file.append(.done(id))
    }
}
