import SwitchyardServices

/// The active downloads, streams and resumable uploads of a client, by identifier.
///
/// They outlive the head of their response.
///
/// The dispatch table contains a request until its response arrives. This table contains a transfer until its last
/// byte.
final class TransferTable: Sendable {
    private struct Entry {
        var owner: OwnerID
        var request: ActiveRequest
        var handle: TransferHandle
        /// Whether the transfer ends by itself, so that a caller can wait for its end.
        var hasEnd: Bool
        /// Whether the transfer is sent by a refresh of the client's credentials.
        ///
        /// Methods that cancel all requests do not cancel such a transfer.
        var isOfRefresh: Bool

        func isOrdinary(of owner: OwnerID?) -> Bool {
            (owner == nil || self.owner == owner) && !isOfRefresh
        }
    }

    private struct State {
        var entries: [RequestID: Entry] = [:]
        var isClosed = false
        /// The waiters that are resumed when the last transfer ends.
        var waiters = WaiterList<Bool>()

        var isIdle: Bool { !entries.values.contains(where: \.hasEnd) }
    }

    private let state = Locked(State())

    /// Adds a transfer before it starts.
    ///
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    func insert(
        _ handle: TransferHandle,
        of request: ActiveRequest,
        owner: OwnerID,
        hasEnd: Bool = true,
        isOfRefresh: Bool = false
    ) throws(RequestFailure.Reason) {
        let entry = Entry(owner: owner, request: request, handle: handle, hasEnd: hasEnd, isOfRefresh: isOfRefresh)
        let replaced = try state.withLock { (state) throws(RequestFailure.Reason) in
            guard !state.isClosed else { throw .closed }
            guard state.entries[request.id]?.handle.isOver ?? true else { throw .duplicateID }
            return state.entries.updateValue(entry, forKey: request.id)
        }
        // The old entry is released after the lock, because releasing its configuration may run arbitrary code.
        withExtendedLifetime(replaced) {}
    }

    /// Removes a transfer that has ended, unless another transfer already uses its identifier.
    func remove(_ handle: TransferHandle, id: RequestID) {
        let (waiters, removed) = state.withLock { state -> ([Waiter<Bool>], Entry?) in
            let removed = state.entries[id]?.handle === handle ? state.entries.removeValue(forKey: id) : nil
            return (!state.waiters.isEmpty && state.isIdle ? state.waiters.removeAll() : [], removed)
        }
        for waiter in waiters { waiter.resume(returning: true) }
        // The entry is released after the lock, as in `insert`.
        withExtendedLifetime(removed) {}
    }

    /// Whether no transfer is active, apart from those that do not end by themselves, such as event sources.
    var isIdle: Bool { state.withLock { $0.isIdle } }

    /// The number of tasks that wait until no transfer is active.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Waits until no transfer is active, apart from those that do not end by themselves, such as event sources.
    ///
    /// Returns `false` if the task was cancelled first.
    func waitUntilIdle() async -> Bool {
        await state.wait(in: \.waiters) { $0.isIdle }
    }

    /// Returns the identifiers of the transfers of the handle with the identifier `owner`, or of all handles if it is
    /// `nil`.
    ///
    /// Transfers of a credential refresh are left out.
    func ids(of owner: OwnerID?) -> [RequestID] {
        requests(of: owner).map(\.id)
    }

    /// Returns the requests of the transfers of the handle with the identifier `owner`, or of all handles if it is
    /// `nil`.
    ///
    /// Transfers of a credential refresh are left out.
    func requests(of owner: OwnerID?) -> [ActiveRequest] {
        state.withLock { state in
            state.entries.values.filter { $0.isOrdinary(of: owner) && !$0.handle.isOver }.map(\.request)
        }
    }

    func cancel(_ ids: some Sequence<RequestID>) {
        end(.cancelled) { state in ids.compactMap { state.entries[$0]?.handle } }
    }

    func cancelAll(of owner: OwnerID?) {
        end(.cancelled) { state in
            state.entries.values.filter { $0.isOrdinary(of: owner) }.map(\.handle)
        }
    }

    func cancelAll(outside environment: ServiceEnvironment) {
        end(.cancelled) { state in
            state.entries.values.filter { $0.request.environment != environment && !$0.isOfRefresh }.map(\.handle)
        }
    }

    /// Ends the transfers of users who have logged out.
    func cancelCallsOfFormerUsers(in environment: ServiceEnvironment) {
        let transfers = state.withLock { $0.entries.values.map { ($0.handle, $0.request.configuration) } }
        for (handle, call) in transfers {
            if let reason = call.refusal(in: environment) { handle.cancel(reason) }
        }
    }

    /// Refuses new transfers.
    func refuse() {
        state.withLock { $0.isClosed = true }
    }

    /// Refuses new transfers and ends active ones.
    func close() {
        refuse()
        end(.closed) { $0.entries.values.map(\.handle) }
    }

    private func end(_ reason: RequestFailure.Reason, _ choose: (inout State) -> [TransferHandle]) {
        for handle in state.withLock({ choose(&$0) }) { handle.cancel(reason) }
    }
}
