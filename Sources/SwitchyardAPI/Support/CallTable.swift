import SwitchyardClient
import SwitchyardServices

/// The calls of one manager that answer through a completion handler, so that they can be cancelled by id and end when
/// the manager goes, and those that are awaited and wait for a fetch.
final class CallTable: Sendable {
    private struct Entry {
        var task: Task<Void, Never>?
        /// Ends the waiting of one that is awaited.
        var leave: (@Sendable () -> Void)?
        var isCancelled = false
    }

    /// The client through which these calls send, and fetches that belong to all who wait for them.
    ///
    /// It is a handle of its own: a call that holds it keeps neither the manager nor the manager's client.
    let client: NetworkClient
    private let entries = Locked<[RequestID: Entry]>([:])

    init(client: NetworkClient) {
        self.client = client
    }

    deinit {
        for entry in entries.withLock({ Array($0.values) }) { entry.task?.cancel() }
    }

    /// The calls under way, oldest first.
    var active: [RequestID] { entries.withLock { Array($0.keys) }.sorted() }

    /// Enters a call before it starts.
    func enter(_ id: RequestID) {
        entries.withLock { $0[id] = Entry() }
    }

    /// Enters a call that waits for a fetch, with what ends its waiting.
    func enter(_ id: RequestID, leaving: @escaping @Sendable () -> Void) {
        entries.withLock { $0[id] = Entry(leave: leaving) }
    }

    /// Attaches the task that carries a call out; one that was cancelled meanwhile is cancelled.
    func attach(_ task: Task<Void, Never>, to id: RequestID) {
        let isCancelled = entries.withLock { entries in
            entries[id]?.task = task
            return entries[id]?.isCancelled ?? false
        }
        if isCancelled { task.cancel() }
    }

    /// Takes a call out that has ended; `true` when it was cancelled before.
    @discardableResult
    func leave(_ id: RequestID) -> Bool {
        entries.withLock { $0.removeValue(forKey: id)?.isCancelled ?? true }
    }

    /// Cancels calls; those that have ended are left alone.
    func cancel(_ ids: some Sequence<RequestID>) {
        let cancelled = entries.withLock { entries in
            ids.compactMap { id -> Entry? in
                entries[id]?.isCancelled = true
                return entries[id]
            }
        }
        for entry in cancelled {
            entry.task?.cancel()
            entry.leave?()
        }
    }
}

extension NetworkClient {
    /// The calls made through this handle that answer through a completion handler.
    var calls: CallTable {
        objects.object { CallTable(client: detached()) }
    }
}
