package import SwitchyardClient
import SwitchyardServices

/// The calls of one manager that can be cancelled by identifier and that end with the manager: the calls with a
/// completion handler, and the awaited calls that wait for a fetch.
package final class CallTable: Sendable {
    private struct Entry {
        var task: Task<Void, Never>?
        /// A closure that ends the wait of an awaited call, or `nil` for a call with a completion handler.
        var leave: (@Sendable () -> Void)?
        var isCancelled = false
    }

    /// The client handle for these calls and for shared fetches.
    ///
    /// A call that retains this separate handle retains neither the manager nor the manager's client.
    package let client: NetworkClient
    private let entries = Locked<[RequestID: Entry]>([:])

    init(client: NetworkClient) {
        self.client = client
    }

    deinit {
        for entry in entries.withLock({ Array($0.values) }) { entry.task?.cancel() }
    }

    /// The identifiers of the calls in flight, the oldest first.
    var active: [RequestID] { entries.withLock { Array($0.keys) }.sorted() }

    /// Adds a call with a completion handler before it starts.
    func enter(_ id: RequestID) {
        entries.withLock { $0[id] = Entry() }
    }

    /// Adds a call without a completion handler that waits for a shared fetch, with a closure that ends the wait.
    func enter(_ id: RequestID, leaving: @escaping @Sendable () -> Void) {
        entries.withLock { $0[id] = Entry(leave: leaving) }
    }

    /// Attaches the task of a call.
    ///
    /// If the call has already been cancelled, the task is cancelled.
    func attach(_ task: Task<Void, Never>, to id: RequestID) {
        let isCancelled = entries.withLock { entries in
            entries[id]?.task = task
            return entries[id]?.isCancelled ?? false
        }
        if isCancelled { task.cancel() }
    }

    /// Removes a call that has ended.
    ///
    /// Returns `true` if the call was cancelled or is not in the table.
    @discardableResult
    func leave(_ id: RequestID) -> Bool {
        entries.withLock { $0.removeValue(forKey: id)?.isCancelled ?? true }
    }

    /// Cancels calls.
    ///
    /// Calls that have ended are not affected.
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
    /// The calls of this handle that have a completion handler.
    package var calls: CallTable {
        objects.object { CallTable(client: detached()) }
    }
}
