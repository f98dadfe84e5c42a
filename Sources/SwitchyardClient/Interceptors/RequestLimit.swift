/// A limit that a request must pass before it is first sent and before each retry, such as a request rate or a number
/// of concurrent requests.
///
/// The request with its failovers and hedges up to the next retry is a *round*. Limits are applied in order. Each limit
/// may let the round pass, make it wait, or refuse it.
public protocol RequestLimit: Sendable {
    /// Waits until the round may begin.
    ///
    /// If the request is cancelled or its deadline passes, the task of this call is cancelled. The request ends even if
    /// the limit does not react to the cancellation. If the limit returns a pass after that, the pass is released
    /// immediately.
    ///
    /// - Parameters:
    ///   - configuration: The call, before interceptors change it.
    ///   - context: The request and round, with the clock for waiting.
    /// - Returns: The pass, which is released when the round has ended.
    /// - Throws: The reason why the round must not begin: ``RequestFailure/Reason/rateLimited(retryAfter:)``, or an
    ///   error of the limit's own, which becomes ``RequestFailure/Reason/vetoed(_:)``.
    func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass
}

/// A limit that spaces requests in time, or in which a later request supersedes an earlier one.
package protocol PacingLimit: RequestLimit {
    /// Whether the limit spaces requests in time. A request that continues a transfer does not pass such a limit again.
    var spacesRequests: Bool { get }
}

extension PacingLimit {
    /// The value is `false` unless a limit overrides it.
    package var spacesRequests: Bool { false }
}

/// The permission to begin a round: the first try at a request or a retry, with its failovers and hedges.
///
/// The pass is released exactly once, when the round has ended.
public struct LimitPass: Sendable {
    /// The closure that releases the pass, or `nil` if there is nothing to release.
    let leave: (@Sendable () -> Void)?
    /// Whether the pass is kept between rounds and released when the request has ended.
    let isLasting: Bool

    /// Creates a pass.
    ///
    /// - Parameter leave: Called once when the round has ended. It may be called on any thread and must not block.
    public init(leave: (@Sendable () -> Void)? = nil) {
        self.init(isLasting: false, leave: leave)
    }

    package init(isLasting: Bool, leave: (@Sendable () -> Void)?) {
        self.isLasting = isLasting
        self.leave = leave
    }

    /// A pass that does not have to be released.
    public static let free = LimitPass()
}
