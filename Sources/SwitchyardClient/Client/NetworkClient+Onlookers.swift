import SwitchyardServices

extension NetworkClient {
    /// Lets somebody look on at the calls that are dispatched from now on, whatever handle they are sent through.
    package func attach(_ onlooker: Onlooker) {
        core.state.withLock { $0.onlookers = ($0.onlookers ?? []) + [onlooker] }
    }

    /// Has somebody look on no more; of the calls under way it is still told the end.
    package func detach(_ onlooker: Onlooker) {
        // What goes with the list goes behind the lock.
        let old = core.state.withLock { state in
            let old = state.onlookers
            let rest = old?.filter { $0 !== onlooker } ?? []
            state.onlookers = rest.isEmpty ? nil : rest
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// How many look on.
    package var onlookerCount: Int { core.state.withLock { $0.onlookers?.count ?? 0 } }
}
