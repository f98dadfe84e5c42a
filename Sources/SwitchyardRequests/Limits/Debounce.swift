public import SwitchyardClient
import SwitchyardServices

/// A limit that delays each request, and sends it only if no other request with the same key arrives in the meantime.
///
/// If another request arrives, the waiting request fails as superseded.
///
///     let typing = Debounce(.milliseconds(300), by: .endpoint)
///     configuration.limits = [typing]            // for every request of the search field
public final class Debounce: RequestLimit, PacingLimit {
    private let quiet: Duration
    private let key: LimitKey
    private let latest = Locked<[String: (id: RequestID, end: @Sendable (RequestFailure.Reason) -> Void)]>([:])

    /// Creates a debounce limit.
    ///
    /// - Parameters:
    ///   - quiet: The time for which a request waits. If another request with the same key arrives in this time, the
    ///     waiting request fails.
    ///   - key: The key. Requests with the same key supersede each other. By default, the key is the method and path.
    public init(_ quiet: Duration, by key: LimitKey = .endpoint) {
        self.quiet = quiet
        self.key = key
    }

    /// The number of waiting requests.
    package var waitingCount: Int { latest.withLock { $0.count } }

    /// Waits for the quiet time before the request is first sent.
    ///
    /// Retries do not wait again.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard context.round == 1, let key = key(configuration) else { return .free }
        typealias End = @Sendable (RequestFailure.Reason) -> Void
        let (isLate, superseded) = latest.withLock { latest -> (Bool, End?) in
            // Each request arrives in a separate task, so an older request may arrive later. It does not supersede a
            // newer request.
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

/// A limit that lets only the latest request with a key continue.
///
/// A new request makes the previous request fail as superseded, whether it waits or runs.
///
///     configuration.limits = [LatestWins()]      // one object for all requests that supersede each other
///
/// A request whose response is streamed (a download, a stream, events) can be superseded until the head of its response
/// has been received.
public final class LatestWins: RequestLimit, PacingLimit {
    private let key: LimitKey
    private let latest = Locked<[String: (id: RequestID, end: @Sendable (RequestFailure.Reason) -> Void)]>([:])

    /// Creates a limit that lets only the latest request continue.
    ///
    /// - Parameter key: The key. Requests with the same key supersede each other. By default, the key is the method and
    ///   path.
    public init(by key: LimitKey = .endpoint) {
        self.key = key
    }

    /// The number of running requests.
    package var count: Int { latest.withLock { $0.count } }

    /// Supersedes the previous request with the same key before this request is first sent.
    ///
    /// Retries supersede nothing.
    public func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass {
        guard context.round == 1, let key = key(configuration) else { return .free }
        let id = context.id
        let superseded = latest.withLock { latest -> (@Sendable (RequestFailure.Reason) -> Void)? in
            // Each request arrives in a separate task, so an older request may arrive later. It does not supersede a
            // newer request.
            if let other = latest[key], id < other.id { return context.end }
            return latest.updateValue((id, context.end), forKey: key).flatMap { $0.id == id ? nil : $0.end }
        }
        superseded?(.superseded)
        // The `LimitPass` stays valid during the pauses before retries, so that a request that waits for a retry can
        // still be superseded.
        return LimitPass(isLasting: true) { [self] in
            latest.withLock { if $0[key]?.id == id { $0[key] = nil } }
        }
    }
}
