import SwitchyardAPI
import SwitchyardClient

/// Requests one after the other, of which each may add the next ones from what it brought.
///
///     let chain = RequestChain()
///     chain.add(users.request(Token.self, for: .login)) { token, chain in
///         chain.add(users.request(User.self, for: .me(token)))
///     }
///     chain.onFinish { report in ... }
///     chain.resume()
///
/// The first failure ends it, and the rest is dropped: every request that was added ends once, those that were not sent
/// as cancelled. An empty chain succeeds at once.
public final class RequestChain: GroupMember {
    /// The chain as a group: members, progress, accessories, state.
    public let group: RequestGroup

    /// Creates a chain.
    ///
    /// - Parameter options: Timeout, queue and names; a chain always sends one request at a time and ends at the first
    ///   failure.
    public init(options: GroupOptions = GroupOptions(policy: .failFast)) {
        var options = options
        options.policy = .failFast
        options.limit = 1
        group = RequestGroup(kind: .chain, options: options)
    }

    private init(_ group: RequestGroup) {
        self.group = group
    }

    /// Adds a request behind the others.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - next: Called with its value before the chain goes on, on the chain's queue; may add requests.
    /// - Returns: `false` when the chain has ended.
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

    /// Starts the first request; another start is ignored, also after the end.
    @discardableResult
    public func resume() -> Bool { group.resume() }

    /// Cancels the request that is under way and drops the rest.
    public func cancel() { group.cancel() }

    /// Calls back once when the chain has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { group.whenEnded(observer) }

    /// Adds a handler for the end; one that is added after it is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (GroupReport) -> Void) -> RequestChain {
        group.onFinish(handler)
        return self
    }

    /// Adds an accessory of the chain itself; after the start it is too late.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestChain {
        group.adding(accessory)
        return self
    }

    /// Starts the chain if need be, and waits for its end; cancelling the task cancels it.
    ///
    /// - Returns: What became of every request, in order.
    public func finished() async -> GroupReport { await group.finished() }
}
