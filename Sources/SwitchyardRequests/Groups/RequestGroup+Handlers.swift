import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

extension RequestGroup {
    /// Adds a handler for the end; one that is added after it is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (GroupReport) -> Void) -> RequestGroup {
        let report = contents.withLock { state -> GroupReport? in
            guard !state.isOver else { return state.plan.report }
            state.finishHandlers.append(handler)
            return nil
        }
        if let report { queue.async { handler(report) } }
        return self
    }

    /// Adds a handler that is told about every member that ends.
    @discardableResult
    public func onProgress(_ handler: @escaping @Sendable (GroupProgress) -> Void) -> RequestGroup {
        contents.withLock { if !$0.isOver { $0.progressHandlers.append(handler) } }
        return self
    }

    /// Adds an accessory; after the start it is too late.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestGroup {
        contents.withLock { if !$0.isOver { $0.accessories.append(accessory) } }
        return self
    }

    /// Calls back once when the group has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) {
        let report = contents.withLock { state -> GroupReport? in
            guard !state.isOver else { return state.plan.report }
            state.observers.append(observer)
            return nil
        }
        if let report { queue.async { observer(report.asMember) } }
    }

    /// Starts the group if need be, and waits for its end.
    ///
    /// Cancelling the task cancels the group.
    ///
    /// - Returns: What became of it.
    public func finished() async -> GroupReport {
        resume()
        return await ended()
    }

    /// Waits for the end of a group that somebody else starts; cancelling the task cancels the group.
    func ended() async -> GroupReport {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<GroupReport, Never>) in
                _ = onFinish { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
    }
}

extension GroupReport {
    /// What the group is to one that it is a member of: one that was to collect all has done what was asked for.
    var asMember: MemberOutcome {
        switch outcome {
        case .succeeded, .partial: .succeeded
        case .cancelled: .cancelled
        case .timedOut: .failed(.limited(.deadline))
        case .failed:
            if case .failed(let reason) = failure {
                .failed(reason)
            } else {
                .failed(.configuration(.other("the group could not succeed")))
            }
        }
    }
}
