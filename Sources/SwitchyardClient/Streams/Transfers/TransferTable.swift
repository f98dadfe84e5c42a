import SwitchyardServices

/// The transfers of a client that outlive the head of their answer: downloads and streams, by identifier.
///
/// The dispatch table knows a request until it is answered; here it can be found until its last byte.
final class TransferTable: Sendable {
    private struct Entry {
        var owner: ClientCore.OwnerID
        var environment: ServiceEnvironment
        var handle: TransferHandle
    }

    private struct State {
        var entries: [RequestID: Entry] = [:]
        var isClosed = false
    }

    private let state = Locked(State())

    /// Enters a transfer before it starts.
    ///
    /// - Throws: ``RequestFailure/Reason/closed``, or ``RequestFailure/Reason/duplicateID``.
    func insert(
        _ handle: TransferHandle,
        id: RequestID,
        owner: ClientCore.OwnerID,
        environment: ServiceEnvironment
    ) throws(RequestFailure.Reason) {
        try state.withLock { (state) throws(RequestFailure.Reason) in
            guard !state.isClosed else { throw .closed }
            guard state.entries[id] == nil else { throw .duplicateID }
            state.entries[id] = Entry(owner: owner, environment: environment, handle: handle)
        }
    }

    /// Takes a transfer out that has ended, unless another has taken its identifier.
    func remove(_ handle: TransferHandle, id: RequestID) {
        state.withLock { state in
            if state.entries[id]?.handle === handle { state.entries[id] = nil }
        }
    }

    /// The transfers of one owner, or all of them.
    func ids(of owner: ClientCore.OwnerID?) -> [RequestID] {
        state.withLock { state in
            state.entries.filter { owner == nil || $0.value.owner == owner }.map(\.key)
        }
    }

    func cancel(_ ids: some Sequence<RequestID>) {
        end(.cancelled) { state in ids.compactMap { state.entries[$0]?.handle } }
    }

    func cancelAll(of owner: ClientCore.OwnerID?) {
        end(.cancelled) { state in
            state.entries.values.filter { owner == nil || $0.owner == owner }.map(\.handle)
        }
    }

    func cancelAll(outside environment: ServiceEnvironment) {
        end(.cancelled) { state in
            state.entries.values.filter { $0.environment != environment }.map(\.handle)
        }
    }

    /// Refuses new transfers and ends those under way.
    func close() {
        end(.closed) { state in
            state.isClosed = true
            return state.entries.values.map(\.handle)
        }
    }

    private func end(_ reason: RequestFailure.Reason, _ choose: (inout State) -> [TransferHandle]) {
        for handle in state.withLock({ choose(&$0) }) { handle.cancel(reason) }
    }
}
