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
        var dropped: [OutboxEntry] = []
        for entry in state.withLock({ $0.idle(in: slot) }) where try remove(entry.id) { dropped.append(entry) }
        let last: OutboxEntry? = await withCheckedContinuation { continuation in
            let isUnderWay = state.withLock { $0.withdraw(slot, telling: continuation) }
            if !isUnderWay { continuation.resume(returning: nil) }
        }
        return dropped + [last].compactMap(\.self)
    }

    /// Marks a write as in flight, unless it was removed meanwhile.
    func begin(_ id: OutboxEntry.ID) -> Bool {
        state.withLock { state in
            guard state.entries.contains(where: { $0.id == id }) else { return false }
            state.underWay = WriteUnderWay(id: id)
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

/// A write that is in flight, and what happens to it if the server does not accept it.
struct WriteUnderWay {
    let id: OutboxEntry.ID
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
        guard entries.contains(where: { $0.id == underWay?.id && $0.slot == slot }) else { return false }
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
