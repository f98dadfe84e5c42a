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
