/// A limit that every round of a request passes before anything else: a rate, a number of requests at once.
///
/// Limits are asked in order, and each may let the round pass, make it wait, or refuse it.
public protocol RequestLimit: Sendable {
    /// Waits until the round may begin.
    ///
    /// When the request is cancelled meanwhile, or its deadline passes, the task is cancelled; a limit that goes on
    /// waiting all the same delays nobody but itself, and the pass that it gives later is handed back at once.
    ///
    /// - Parameters:
    ///   - configuration: What is to be sent, before interceptors.
    ///   - context: Which request and round it is, with the clock to wait on.
    /// - Returns: The pass, which is handed back when the round has ended.
    /// - Throws: Why the round must not begin: ``RequestFailure/Reason/rateLimited(retryAfter:)``, or an error of the
    ///   limit's own, which becomes ``RequestFailure/Reason/vetoed(_:)``.
    func enter(_ configuration: APIConfiguration, _ context: DispatchContext) async throws -> LimitPass
}

/// A limit under which one request takes the place of another.
protocol PacingLimit: RequestLimit {}

/// The permission to begin a round, handed back exactly once when the round has ended.
public struct LimitPass: Sendable {
    /// What handing it back does; `nil` when nothing is to be done.
    let leave: (@Sendable () -> Void)?
    /// Whether it is kept from round to round, and handed back when the request has ended.
    let isLasting: Bool

    /// Creates a pass.
    ///
    /// - Parameter leave: Called once when the round has ended, on any thread; it must not block.
    public init(leave: (@Sendable () -> Void)? = nil) {
        self.init(isLasting: false, leave: leave)
    }

    init(isLasting: Bool, leave: (@Sendable () -> Void)?) {
        self.isLasting = isLasting
        self.leave = leave
    }

    /// A pass that need not be handed back.
    public static let free = LimitPass()
}
