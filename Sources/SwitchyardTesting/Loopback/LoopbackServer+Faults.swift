import SwitchyardServices

extension LoopbackServer {
    /// How the server misbehaves; `nil`, the default, is not at all.
    ///
    /// The fault of a route goes before that of the server for its requests. It is in force when the assignment returns,
    /// and may be set before the start.
    public var fault: Fault? {
        get { board.read { $0.serverFault?.fault } }
        set {
            board.change { $0.serverFault = $0.newFaultState(newValue) }
            perform { .applyFaults($0) }
        }
    }

    /// Lets the requests of a route suffer a fault; `nil` takes it away.
    ///
    /// The route need not be one that has a handler: a path, a prefix and a single method are fine. When several match a
    /// request, the most exact one decides.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - route: The route; a string literal is a pattern for any method.
    public func setFault(_ fault: Fault?, on route: LoopbackRoute) {
        board.change { $0.routeFaults[route] = $0.newFaultState(fault) }
        perform { .applyFaults($0) }
    }

    /// Takes all faults away, those of routes included.
    public func clearFaults() {
        board.change { state in
            state.serverFault = nil
            state.routeFaults = [:]
        }
        perform { .applyFaults($0) }
    }
}

extension ServerBoard.State {
    fileprivate mutating func newFaultState(_ fault: Fault?) -> FaultState? {
        guard let fault else { return nil }
        lastFault += 1
        return FaultState(fault, number: lastFault, since: .systemNow)
    }
}
