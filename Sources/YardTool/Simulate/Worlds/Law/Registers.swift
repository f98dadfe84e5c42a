import Switchyard

/// The rules for judging what the servers of a world have finally executed.
///
/// The servers share their data, and a late copy of a write counts like any other write.
enum Registers {
    /// Returns the violations.
    static func violations(in played: PlayedWorld) -> [Violation] {
        played.calls.compactMap { executedUnreported($0) }
            + played.world.endpoints.indices.compactMap { undone($0, in: played) }
    }

    /// Returns a violation if a call was executed although its result states that it was not.
    private static func executedUnreported(_ call: PlayedCall) -> Violation? {
        guard call.kind != .read, call.outcome != nil, !call.reportsExecution, call.executionTime != nil else {
            return nil
        }
        return Violation(kind: .executedUnreported, call: call)
    }

    /// Returns a violation if the final value of an endpoint comes from a write that was followed by a newer successful
    /// write.
    ///
    /// The newer write started after the end of the older one. If the older write reports that it may have been
    /// executed, there is no violation, because its caller can check. Writes with keys are not judged because the
    /// simulated servers do not support keys.
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
    /// Returns whether all calls of an endpoint replace the same value.
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
    /// Returns the fate of the request according to its end.
    func fate(of kind: CallKind) -> RequestFate {
        switch end {
        case .answer(let status, _): RequestFate(status: status, to: kind.method)
        case nil: .open
        default: wasWritten ? .open : .unsent
        }
    }
}
