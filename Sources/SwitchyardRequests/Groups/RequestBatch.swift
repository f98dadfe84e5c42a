public import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// A batch of requests for values of the same type.
///
/// It succeeds or fails as a whole according to its policy, and returns the values in order.
///
///     let batch = RequestBatch(ids.map { users.request(User.self, for: .user($0)) })
///     let everybody = try await batch.values()
///
/// By default, the first failure ends the batch and cancels the other requests. Each request ends exactly once, and the
/// report names the request that failed. An empty batch succeeds immediately.
public final class RequestBatch<Value: Sendable>: GroupMember {
    /// The requests, in order.
    public let requests: [APIRequest<Value>]
    /// The batch as a group, which provides its progress, observers and state.
    public let group: RequestGroup

    /// Creates a batch without starting it.
    ///
    /// - Parameters:
    ///   - requests: The requests, in order.
    ///   - options: The options. By default, the first failure ends the batch.
    public init(_ requests: [APIRequest<Value>], options: GroupOptions = GroupOptions(policy: .failFast)) {
        self.requests = requests
        group = RequestGroup(kind: .batch, options: options)
        for request in requests { group.append(request) }
    }

    /// Starts the requests.
    ///
    /// A second call is ignored, even after the batch has ended.
    @discardableResult
    public func resume() -> Bool { group.resume() }

    /// Ends the batch as cancelled, and cancels its unfinished requests.
    public func cancel() { group.cancel() }

    /// Calls the observer once, when the batch has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { group.whenEnded(observer) }

    /// Adds a handler for the end of the batch.
    ///
    /// If the batch has already ended, the handler is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (BatchReport<Value>) -> Void) -> RequestBatch {
        group.onFinish { [requests] in handler(BatchReport($0, requests)) }
        return self
    }

    /// Adds an observer (``RequestAccessory``) of the batch itself.
    ///
    /// The observer must be added before the start.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestBatch {
        group.adding(accessory)
        return self
    }

    /// Starts the batch if necessary, and waits until it has ended.
    ///
    /// Cancelling the task cancels the batch.
    ///
    /// - Returns: The outcomes of all requests.
    public func finished() async -> BatchReport<Value> {
        BatchReport(await group.finished(), requests)
    }

    /// Starts the batch if necessary, and waits for its values.
    ///
    /// Cancelling the task cancels the batch.
    ///
    /// - Returns: The values in order. If the policy does not require all requests to succeed, only the values of the
    ///   requests that succeeded are returned.
    /// - Throws: The error of the request that made the batch fail, `APIError.Cancellation.caller` if the batch was
    ///   cancelled, or ``/SwitchyardAPI/APIError/LimitReason/deadline`` if its timeout passed. See
    ///   ``BatchReport/error``.
    public func values() async throws(APIError) -> [Value] {
        let report = await finished()
        if let error = report.error { throw error }
        return report.values
    }
}

/// The outcome of a batch and the results of its requests.
public struct BatchReport<Value: Sendable>: Sendable {
    /// The outcome of the batch as a whole.
    public var outcome: GroupOutcome
    /// The results of the requests, in order.
    public var results: [Result<Value, APIError>]
    /// The request that made the batch fail, or `nil` if no request caused the failure.
    ///
    /// The value is also `nil` if the failing member was added to the batch's ``RequestBatch/group`` directly.
    public var failedRequest: APIRequest<Value>?
    private let failure: MemberOutcome?
    /// Whether a server may have processed any of the requests.
    private let mayHaveTakenEffect: Bool

    init(_ report: GroupReport, _ requests: [APIRequest<Value>]) {
        outcome = report.outcome
        results = requests.map { $0.outcome?.map(\.value) ?? .failure(APIError(.cancelled(.caller))) }
        failure = report.failure
        mayHaveTakenEffect = requests.contains { $0.mayHaveBeenExecuted }
        if case .failed(let member?) = report.outcome, requests.indices.contains(member) {
            failedRequest = requests[member]
        }
    }

    /// The values of the requests that succeeded, in order.
    public var values: [Value] { results.compactMap { try? $0.get() } }

    /// The error of the batch, or `nil` if it succeeded completely or partly.
    ///
    /// Its ``/SwitchyardAPI/APIError/mayHaveBeenExecuted`` is `true` if a server may have processed any request of the
    /// batch, not only the request that failed.
    public var error: APIError? { cause?.ofGroup(mayHaveBeenExecuted: mayHaveTakenEffect) }

    private var cause: APIError? {
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
    /// Returns the error of a batch that failed because of its options, or because of a member that was added to its
    /// group directly.
    private static func error(of member: MemberOutcome?) -> APIError {
        switch member {
        case .failed(let reason): APIError(reason)
        case .cancelled: APIError(.cancelled(.caller))
        case .succeeded, nil: APIError(.configuration(.other("the group requires more successes than it has requests")))
        }
    }
}

extension RequestGroup {
    /// Sends requests of different types at the same time, and returns their values in order.
    ///
    ///     let (me, topics) = try await RequestGroup.values(of: meRequest, topicsRequest)
    ///
    /// The first failure cancels the other requests. Cancelling the task cancels all requests.
    ///
    /// - Parameters:
    ///   - request: The requests.
    ///   - options: The options of the group, except for its policy, which is always `GroupPolicy.failFast`.
    /// - Returns: The values.
    /// - Throws: The error of the request that failed first. Its ``/SwitchyardAPI/APIError/mayHaveBeenExecuted`` is
    ///   `true` if a server may have processed any of the requests.
    public static func values<each Value: Sendable>(
        of request: repeat APIRequest<each Value>,
        options: GroupOptions = GroupOptions(policy: .failFast)
    ) async throws(APIError) -> (repeat each Value) {
        var options = options
        options.policy = .failFast
        let group = RequestGroup(kind: .batch, options: options)
        var members: [any FailingMember] = []
        for member in repeat each request {
            group.append(member)
            members.append(member)
        }
        let cause: APIError
        switch await group.finished().outcome {
        case .failed(let index?): cause = members[index].error ?? APIError(.cancelled(.caller))
        case .timedOut: cause = APIError(.limited(.deadline))
        case .cancelled, .failed(nil): cause = APIError(.cancelled(.caller))
        case .succeeded, .partial: return (repeat try (each request).endedValue())
        }
        throw cause.ofGroup(mayHaveBeenExecuted: members.contains { $0.mayHaveBeenExecuted })
    }
}

/// A request whose error can be read without knowing the type of its value.
private protocol FailingMember {
    var error: APIError? { get }
    /// Whether a server has processed the request, or may have processed it.
    var mayHaveBeenExecuted: Bool { get }
}

extension APIError {
    /// Returns this error with a `mayHaveBeenExecuted` that covers all requests of a group.
    fileprivate func ofGroup(mayHaveBeenExecuted: Bool) -> APIError {
        var error = self
        if mayHaveBeenExecuted { error.context.mayHaveBeenExecuted = true }
        return error
    }
}

extension APIRequest: FailingMember {
    fileprivate var error: APIError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    fileprivate var mayHaveBeenExecuted: Bool {
        error?.mayHaveBeenExecuted ?? record.withLock { $0.mayHaveTakenEffect }
    }

    fileprivate func endedValue() throws(APIError) -> Value {
        guard let outcome else { throw APIError(.cancelled(.caller)) }
        return try outcome.get().value
    }
}
