public import SwitchyardAPI
import SwitchyardClient

/// Requests of one kind that belong together: they succeed together, by the policy, and their values come in order.
///
///     let batch = RequestBatch(ids.map { users.request(User.self, for: .user($0)) })
///     let everybody = try await batch.values()
///
/// Unless told otherwise the first failure ends it: the others are cancelled, each ends once, and the report names the
/// request that failed. An empty batch succeeds at once.
public final class RequestBatch<Value: Sendable>: GroupMember {
    /// The requests, in order.
    public let requests: [APIRequest<Value>]
    /// The batch as a group: progress, accessories, state.
    public let group: RequestGroup

    /// Creates a batch.
    ///
    /// - Parameters:
    ///   - requests: The requests, in order.
    ///   - options: When it is done; at the first failure unless given.
    public init(_ requests: [APIRequest<Value>], options: GroupOptions = GroupOptions(policy: .failFast)) {
        self.requests = requests
        group = RequestGroup(kind: .batch, options: options)
        for request in requests { group.append(request) }
    }

    /// Starts the requests; another start is ignored, also after the end.
    @discardableResult
    public func resume() -> Bool { group.resume() }

    /// Ends the batch as cancelled, and its unfinished requests.
    public func cancel() { group.cancel() }

    /// Calls back once when the batch has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { group.whenEnded(observer) }

    /// Adds a handler for the end; one that is added after it is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (BatchReport<Value>) -> Void) -> RequestBatch {
        group.onFinish { [requests] in handler(BatchReport($0, requests)) }
        return self
    }

    /// Adds an accessory of the batch itself; after the start it is too late.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestBatch {
        group.adding(accessory)
        return self
    }

    /// Starts the batch if need be, and waits for its end; cancelling the task cancels it.
    ///
    /// - Returns: What became of every request.
    public func finished() async -> BatchReport<Value> {
        BatchReport(await group.finished(), requests)
    }

    /// Starts the batch if need be, and waits for the values; cancelling the task cancels it.
    ///
    /// - Returns: The values in order: all of them, or with another policy those that are there.
    /// - Throws: The error of the request that made the batch fail; `APIError.Cancellation.caller` after a cancel,
    ///   ``/SwitchyardAPI/APIError/LimitReason/deadline`` after the timeout.
    public func values() async throws(APIError) -> [Value] {
        let report = await finished()
        if let error = report.error { throw error }
        return report.values
    }
}

/// What became of a batch.
public struct BatchReport<Value: Sendable>: Sendable {
    /// How the batch ended.
    public var outcome: GroupOutcome
    /// How the requests ended, in order.
    public var results: [Result<Value, APIError>]
    /// The request that made the batch fail; `nil` when it was none of them, but a member that its group was given.
    public var failedRequest: APIRequest<Value>?
    /// How the member ended that made the batch fail.
    private let failure: MemberOutcome?

    init(_ report: GroupReport, _ requests: [APIRequest<Value>]) {
        outcome = report.outcome
        results = requests.map { $0.outcome?.map(\.value) ?? .failure(APIError(.cancelled(.caller))) }
        failure = report.failure
        if case .failed(let member?) = report.outcome, requests.indices.contains(member) {
            failedRequest = requests[member]
        }
    }

    /// The values that are there, in order.
    public var values: [Value] { results.compactMap { try? $0.get() } }

    /// Why the batch failed; `nil` when it succeeded, be it in part.
    public var error: APIError? {
        switch outcome {
        case .succeeded, .partial: nil
        case .cancelled: APIError(.cancelled(.caller))
        case .timedOut: APIError(.limited(.deadline))
        case .failed:
            if case .failure(let error) = failedRequest?.outcome { error } else { Self.error(of: failure) }
        }
    }
}

extension BatchReport {
    /// The error of a batch that failed by no request of its own.
    private static func error(of member: MemberOutcome?) -> APIError {
        switch member {
        case .failed(let reason): APIError(reason)
        case .cancelled: APIError(.cancelled(.caller))
        case .succeeded, nil: APIError(.configuration(.other("too few requests to succeed")))
        }
    }
}

extension RequestGroup {
    /// Makes requests of different kinds together, and returns their values in order.
    ///
    ///     let (me, topics) = try await RequestGroup.values(of: meRequest, topicsRequest)
    ///
    /// The first failure cancels the others. Cancelling the task cancels them all.
    ///
    /// - Parameters:
    ///   - request: The requests.
    ///   - options: Limit, timeout and queue; the policy is always to fail fast.
    /// - Returns: The values.
    /// - Throws: The error of the request that failed first.
    public static func values<each Value: Sendable>(
        of request: repeat APIRequest<each Value>,
        options: GroupOptions = GroupOptions(policy: .failFast)
    ) async throws(APIError) -> (repeat each Value) {
        var options = options
        options.policy = .failFast
        let group = RequestGroup(kind: .batch, options: options)
        var errors: [@Sendable () -> APIError?] = []
        for member in repeat each request {
            group.append(member)
            errors.append { member.error }
        }
        switch await group.finished().outcome {
        case .failed(let index?): throw errors[index]() ?? APIError(.cancelled(.caller))
        case .timedOut: throw APIError(.limited(.deadline))
        case .cancelled, .failed(nil): throw APIError(.cancelled(.caller))
        case .succeeded, .partial: return (repeat try (each request).endedValue())
        }
    }
}

extension APIRequest {
    fileprivate var error: APIError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    fileprivate func endedValue() throws(APIError) -> Value {
        guard let outcome else { throw APIError(.cancelled(.caller)) }
        return try outcome.get().value
    }
}
