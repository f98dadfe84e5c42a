import SwitchyardAPI
import SwitchyardClient

/// A chain of requests that run one after the other.
///
/// Each request may add further requests based on its value.
///
///     let chain = RequestChain()
///     chain.add(users.request(Token.self, for: .login)) { token, chain in
///         chain.add(users.request(User.self, for: .me(token)))
///     }
///     chain.onFinish { report in ... }
///     chain.resume()
///
/// The first failure ends the chain, and the remaining requests are not sent. Every request that was added ends exactly
/// once, and requests that were not sent end as cancelled. An empty chain succeeds immediately.
public final class RequestChain: GroupMember {
    /// The chain as a group, which provides its members, progress, observers and state.
    public let group: RequestGroup

    /// Creates an empty chain.
    ///
    /// - Parameter options: The timeout, queue and tags. A chain always runs one request at a time and ends at the
    ///   first failure.
    public init(options: GroupOptions = GroupOptions(policy: .failFast)) {
        var options = options
        options.policy = .failFast
        options.limit = 1
        group = RequestGroup(kind: .chain, options: options)
    }

    private init(_ group: RequestGroup) {
        self.group = group
    }

    /// Adds a request at the end of the chain.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - next: A closure that receives the request's value, on the chain's queue, before the chain continues. It may
    ///     add requests to the chain.
    /// - Returns: `false` if the chain has ended.
    @discardableResult
    public func add<Value: Sendable>(
        _ request: APIRequest<Value>,
        then next: (@Sendable (Value, RequestChain) -> Void)? = nil
    ) -> Bool {
        guard let next else { return group.append(request) != nil }
        let index = group.append(request) { outcome, group in
            guard outcome.isSuccess, let value = request.response?.value else { return }
            next(value, RequestChain(group))
        }
        return index != nil
    }

    /// Starts the first request.
    ///
    /// A second call is ignored, even after the chain has ended.
    @discardableResult
    public func resume() -> Bool { group.resume() }

    /// Cancels the running request.
    ///
    /// The requests that were not sent end as cancelled.
    public func cancel() { group.cancel() }

    /// Calls the observer once, when the chain has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { group.whenEnded(observer) }

    /// Adds a handler for the end of the chain.
    ///
    /// If the chain has already ended, the handler is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (GroupReport) -> Void) -> RequestChain {
        group.onFinish(handler)
        return self
    }

    /// Adds an observer (``RequestAccessory``) of the chain itself.
    ///
    /// The observer must be added before the start.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestChain {
        group.adding(accessory)
        return self
    }

    /// Starts the chain if necessary, and waits until it has ended.
    ///
    /// Cancelling the task cancels the chain.
    ///
    /// - Returns: The outcomes of all requests, in order.
    public func finished() async -> GroupReport { await group.finished() }
}
