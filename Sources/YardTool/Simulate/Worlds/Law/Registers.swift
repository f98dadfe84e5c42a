import Switchyard

/// Judges what a world's servers have executed in the end: they share their data, and a late copy of a write counts as any
/// other.
enum Registers {
    /// What was broken.
    static func violations(in played: PlayedWorld) -> [Violation] {
        played.calls.compactMap { executedUnreported($0) }
            + played.world.endpoints.indices.compactMap { undone($0, in: played) }
    }

    /// Whether a call was executed that ended without saying that it may have been.
    private static func executedUnreported(_ call: PlayedCall) -> Violation? {
        guard call.kind != .read, call.outcome != nil, !call.reportsExecution, call.executionTime != nil else {
            return nil
        }
        return Violation(kind: .executedUnreported, call: call)
    }

    /// Whether the value of an endpoint is in the end that of a write after whose end a newer one was made and reported as
    /// done.
    ///
    /// A write that says that it may have been executed has told its caller, who can look. Writes with keys are left out:
    /// the servers of the worlds know no keys.
    private static func undone(_ endpoint: Int, in played: PlayedWorld) -> Violation? {
        guard played.world.isRegister(endpoint) else { return nil }
        let writes = played.calls.filter { $0.endpoint == endpoint }
        let executed = writes.filter { $0.executionTime != nil }
        guard let last = executed.max(by: { ($0.executionTime ?? 0) < ($1.executionTime ?? 0) }),
            !last.mayHaveBeenExecuted
        else { return nil }
        let isUndone = writes.contains { $0.isAnsweredWell && $0.time >= last.endTime && $0.number != last.number }
        return isUndone ? Violation(kind: .undone, call: last) : nil
    }
}

extension World {
    /// Whether all calls of an endpoint replace one and the same value.
    fileprivate func isRegister(_ endpoint: Int) -> Bool {
        endpoints[endpoint].kind == .replacement && endpoints[endpoint].shape == .plain
    }
}

extension PlayedCall {
    /// When the last of its copies is executed; `nil` where none is.
    fileprivate var executionTime: Double? { sendings.compactMap(\.executionTime).max() }

    /// Whether its end says that it was executed, or may have been.
    fileprivate var reportsExecution: Bool { isAnsweredWell || mayHaveBeenExecuted }
}

extension TrafficRecord.Sending {
    /// What its end says of the request.
    func fate(of kind: CallKind) -> RequestFate {
        switch end {
        case .answer(let status, _): RequestFate(status: status, to: kind.method)
        case nil: .open
        default: wasWritten ? .open : .unsent
        }
    }
}
