import SwitchyardServices

/// Lets a request go only when no other of its key has come for a while; the earlier ones end as superseded.
///
///     let typing = Debounce(.milliseconds(300), by: .endpoint)
///     configuration.limits = [typing]            // for every request of the search field
public final class Debounce: RequestLimit, PacingLimit {
    private let quiet: Duration
    private let key: LimitKey
    private let latest = Locked<[String: (id: RequestID, end: @Sendable (RequestFailure.Reason) -> Void)]>([:])

    /// Creates a debounce.
    ///
    /// - Parameters:
    ///   - quiet: How long no other request may have come.
    ///   - key: Which requests supersede each other; those of one method and path unless given.
    public init(_ quiet: Duration, by key: LimitKey = .endpoint) {
        self.quiet = quiet
        self.key = key
    }

    /// How many requests wait.
    public var waitingCount: Int { latest.withLock { $0.count } }

    /// Waits for the quiet; a later round of a request is let go.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard context.round == 1, let key = key(configuration) else { return .free }
        typealias End = @Sendable (RequestFailure.Reason) -> Void
        let (isLate, superseded) = latest.withLock { latest -> (Bool, End?) in
            // An older request that was held up on its way here does not supersede a newer one.
            if let other = latest[key], context.id < other.id { return (true, context.end) }
            return (false, latest.updateValue((context.id, context.end), forKey: key)?.end)
        }
        superseded?(.superseded)
        if isLate { throw CancellationError() }
        defer { latest.withLock { if $0[key]?.id == context.id { $0[key] = nil } } }
        try await context.time.sleep(for: quiet)
        return .free
    }
}

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
