import SwitchyardServices

/// Lets only the latest request of a key go on: when another one comes, the one before ends as superseded, wherever it
/// stands.
///
///     configuration.limits = [LatestWins()]      // one object for all requests that concern each other
///
/// What is read as it arrives (a download, a stream, events) can be superseded until the head of its answer is there.
public final class LatestWins: RequestLimit, PacingLimit {
    private let key: LimitKey
    private let latest = Locked<[String: (id: RequestID, end: @Sendable (RequestFailure.Reason) -> Void)]>([:])

    /// Creates the rule.
    ///
    /// - Parameter key: Which requests supersede each other; those of one method and path unless given.
    public init(by key: LimitKey = .endpoint) {
        self.key = key
    }

    /// How many requests are under way.
    public var count: Int { latest.withLock { $0.count } }

    /// Supersedes the request before this one; a later round of a request is let go.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard context.round == 1, let key = key(configuration) else { return .free }
        let id = context.id
        let superseded = latest.withLock { latest -> (@Sendable (RequestFailure.Reason) -> Void)? in
            // An older request that was held up on its way here does not supersede a newer one.
            if let other = latest[key], id < other.id { return context.end }
            return latest.updateValue((id, context.end), forKey: key).flatMap { $0.id == id ? nil : $0.end }
        }
        superseded?(.superseded)
        // Kept in the pauses too: a request that is going to be sent again can still be superseded.
        return LimitPass(isLasting: true) { [self] in
            latest.withLock { if $0[key]?.id == id { $0[key] = nil } }
        }
    }
}
