import Foundation
import SwitchyardClient
import SwitchyardServices

extension Outbox {
    /// Takes out the writes with a key, of the present environment and user, and waits until none of them is on its way.
    ///
    /// Call it before a direct write about the same thing: an older stored write would overwrite that one later.
    ///
    ///     try await outbox.remove(replacementKey: "note 7")
    ///     try await notes.value(Note.self, for: .saving(note))
    ///
    /// A write that is on its way is let go to its end: accepted by the server it is told as ``OutboxEvent/sent(_:_:)``,
    /// otherwise it is dropped. A server that was silent may carry it out later all the same
    /// (``OutboxEntry/mayHaveBeenExecuted``).
    ///
    /// - Parameter key: The key that the writes were stored with.
    /// - Returns: The writes that were dropped.
    /// - Throws: ``OutboxError/file(_:)`` or ``OutboxError/closed``; then those that were not dropped yet wait on.
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

    /// Makes a write the one that is on its way, unless it has gone meanwhile.
    func begin(_ id: OutboxEntry.ID) -> Bool {
        state.withLock { state in
            guard state.entries.contains(where: { $0.id == id }) else { return false }
            state.underWay = WriteUnderWay(id: id)
            return true
        }
    }

    /// Ends what was on its way: a write that was replaced or withdrawn meanwhile goes, if it is still there.
    func settle() {
        guard let (write, dropped) = state.withLock({ $0.settle() }) else { return }
        if let dropped, let newer = write.replacement { tell(.replaced(dropped, by: newer)) }
        for waiter in write.waiters { waiter.resume(returning: dropped) }
    }
}

/// A write that is on its way, and what is to become of it if the server does not accept it.
struct WriteUnderWay {
    let id: OutboxEntry.ID
    /// The newer write that takes its place.
    var replacement: OutboxEntry?
    /// Those who have withdrawn it, and wait for its end.
    var waiters: [CheckedContinuation<OutboxEntry?, Never>] = []

    var stays: Bool { replacement == nil && waiters.isEmpty }
}

extension Outbox.State {
    /// The writes of a slot that are not on their way.
    func idle(in slot: OutboxEntry.Slot?) -> [OutboxEntry] {
        guard let slot else { return [] }
        return entries.filter { $0.slot == slot && $0.id != underWay?.id }
    }

    /// What the file has to keep: not a write that goes as soon as it is no longer on its way.
    var lasting: [OutboxEntry] {
        guard let underWay, underWay.replacement != nil else { return entries }
        return entries.filter { $0.id != underWay.id }
    }

    /// Drops what a newer write replaces, whose record in the file says so already.
    mutating func replace(_ slot: OutboxEntry.Slot?, by entry: OutboxEntry) -> [OutboxEntry] {
        let replaced = idle(in: slot)
        for old in replaced { drop(old.id) }
        if let slot, entries.contains(where: { $0.id == underWay?.id && $0.slot == slot }) {
            underWay?.replacement = entry
        }
        return replaced
    }

    /// Has the write of a slot that is on its way dropped at its end; whether there is one.
    mutating func withdraw(
        _ slot: OutboxEntry.Slot,
        telling waiter: CheckedContinuation<OutboxEntry?, Never>
    ) -> Bool {
        guard entries.contains(where: { $0.id == underWay?.id && $0.slot == slot }) else { return false }
        underWay?.waiters.append(waiter)
        return true
    }

    /// Ends what was on its way, and drops it unless it stays.
    mutating func settle() -> (write: WriteUnderWay, dropped: OutboxEntry?)? {
        guard let write = underWay else { return nil }
        underWay = nil
        guard !write.stays, let entry = entries.first(where: { $0.id == write.id }) else { return (write, nil) }
        drop(write.id)
        return (write, entry)
    }

    /// Takes a write out; a file that cannot say so has a newer record that does, or sends it again with its key.
    private mutating func drop(_ id: OutboxEntry.ID) {
        entries.removeAll { $0.id == id }
        try? file.append(.done(id))
    }
}
