public import SwitchyardClient
import SwitchyardServices

/// A limit that sends a request only after no other request of its key has come for a while; the earlier requests end
/// as superseded.
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
    ///   - quiet: The time during which no other request of the key may come.
    ///   - key: The key of the requests that supersede each other, by default the method and path.
    public init(_ quiet: Duration, by key: LimitKey = .endpoint) {
        self.quiet = quiet
        self.key = key
    }

    /// The number of waiting requests.
    package var waitingCount: Int { latest.withLock { $0.count } }

    /// Waits for the quiet time in the request's first round; later rounds pass.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard context.round == 1, let key = key(configuration) else { return .free }
        typealias End = @Sendable (RequestFailure.Reason) -> Void
        let (isLate, superseded) = latest.withLock { latest -> (Bool, End?) in
            // An older request that was delayed on its way here does not supersede a newer one.
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

/// A limit that lets only the latest request of a key continue; a new request ends the previous one as superseded, in
/// whatever state it is.
///
///     configuration.limits = [LatestWins()]      // one object for all requests that concern each other
///
/// A request whose response is streamed (a download, a stream, events) can be superseded until the head of its response
/// has been received.
public final class LatestWins: RequestLimit, PacingLimit {
    private let key: LimitKey
    private let latest = Locked<[String: (id: RequestID, end: @Sendable (RequestFailure.Reason) -> Void)]>([:])

    /// Creates the limit.
    ///
    /// - Parameter key: The key of the requests that supersede each other, by default the method and path.
    public init(by key: LimitKey = .endpoint) {
        self.key = key
    }

    /// The number of running requests.
    package var count: Int { latest.withLock { $0.count } }

    /// Supersedes the previous request in the request's first round; later rounds pass.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard context.round == 1, let key = key(configuration) else { return .free }
        let id = context.id
        let superseded = latest.withLock { latest -> (@Sendable (RequestFailure.Reason) -> Void)? in
            // An older request that was delayed on its way here does not supersede a newer one.
            if let other = latest[key], id < other.id { return context.end }
            return latest.updateValue((id, context.end), forKey: key).flatMap { $0.id == id ? nil : $0.end }
        }
        superseded?(.superseded)
        // The pass lasts during retry pauses too, so that a request that waits for a retry can still be superseded.
        return LimitPass(isLasting: true) { [self] in
            latest.withLock { if $0[key]?.id == id { $0[key] = nil } }
        }
    }
}
