import Switchyard

/// Finds two violations in a played world (a random scenario): a write that was executed although its call reports that
/// it was not, and a late copy of a write that overwrote a newer successful write.
///
/// The simulated servers share their data, so a late copy takes effect like any other write.
enum Registers {
    /// Returns the violations of the rules about write requests.
    static func violations(in played: PlayedWorld) -> [Violation] {
        played.calls.compactMap { executedUnreported($0) }
            + played.world.endpoints.indices.compactMap { undone($0, in: played) }
    }

    /// Returns a violation if a call was executed although its result states that it was not executed.
    private static func executedUnreported(_ call: PlayedCall) -> Violation? {
        guard call.kind != .read, call.outcome != nil, !call.reportsExecution, call.executionTime != nil else {
            return nil
        }
        return Violation(kind: .executedUnreported, call: call)
    }

    /// Returns a violation if a late copy of a successful write has overwritten a newer successful write of the
    /// endpoint.
    ///
    /// A write is newer than another write if it started after the other write had ended. If the older write reports
    /// that it may have been executed, there is no violation, because an app can then check the data. Writes with
    /// idempotency keys are not checked, because the simulated servers do not support these keys.
    private static func undone(_ endpoint: Int, in played: PlayedWorld) -> Violation? {
        guard played.world.isRegister(endpoint) else { return nil }
        let writes = played.calls.filter { $0.endpoint == endpoint }
        let executed = writes.filter { $0.executionTime != nil }
        guard let last = executed.max(by: { ($0.executionTime ?? 0) < ($1.executionTime ?? 0) }),
            !last.mayHaveBeenExecuted
        else { return nil }
        let isUndone = writes.contains { $0.isSuccessful && $0.time >= last.endTime && $0.number != last.number }
        return isUndone ? Violation(kind: .undone, call: last) : nil
    }
}

extension World {
    /// Whether all calls of an endpoint replace the same value.
    fileprivate func isRegister(_ endpoint: Int) -> Bool {
        endpoints[endpoint].kind == .replacement && endpoints[endpoint].shape == .plain
    }
}

extension PlayedCall {
    /// The time at which the last copy of the call is executed, or `nil` if no copy is executed.
    fileprivate var executionTime: Double? { sendings.compactMap(\.executionTime).max() }

    /// Whether the result of the call states that it was or may have been executed.
    fileprivate var reportsExecution: Bool { isSuccessful || mayHaveBeenExecuted }
}

extension TrafficRecord.Sending {
    /// Returns what the end of the request says about its execution: certainly not, finished, or still possible.
    func fate(of kind: CallKind) -> RequestFate {
        switch end {
        case .answer(let status, _): RequestFate(status: status, to: kind.method)
        case nil: .open
        default: wasWritten ? .open : .unsent
        }
    }
}
