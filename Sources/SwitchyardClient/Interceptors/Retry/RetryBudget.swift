public import SwitchyardHTTP
import SwitchyardServices

/// What limits the retries of many requests together: a bucket of tokens from which every retry takes.
///
/// When a service is down, every request would be sent again and multiply the load on what is left of it; with an empty
/// bucket requests fail at once instead. A request that succeeds gives back what its own last retry took, or one token
/// when it needed none (AWS SDK, standard retry mode).
///
/// Share one among the clients of a service. Any thread may call it.
public final class RetryBudget: Sendable {
    /// The most tokens.
    public let capacity: Int
    /// What a retry takes.
    public let cost: Int
    /// What a retry after a timeout takes, which has held a server up for longer.
    public let timeoutCost: Int
    private let state: Locked<Int>

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - capacity: The most tokens; 500 unless given. What is below zero is zero.
    ///   - cost: What a retry takes; 5 unless given, so that 100 may be under way at once.
    ///   - timeoutCost: What a retry after a timeout takes; 10 unless given.
    public init(capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10) {
        self.capacity = max(0, capacity)
        self.cost = max(0, cost)
        self.timeoutCost = max(0, timeoutCost)
        state = Locked(max(0, capacity))
    }

    /// The tokens that are left.
    public var available: Int { state.withLock { $0 } }

    /// Takes the tokens of a retry.
    ///
    /// - Parameter error: The failure that makes it necessary; `nil` for a status.
    /// - Returns: How many were taken; `nil` when there are too few, and the request must not be sent again.
    public func take(after error: TransportError? = nil) -> Int? {
        let isTimeout = error?.kind == .timeout || error?.kind == .connectTimeout
        let price = isTimeout ? timeoutCost : cost
        return state.withLock { available in
            guard available >= price else { return nil }
            available -= price
            return price
        }
    }

    /// Gives tokens back, after a success or for a retry that was not made after all.
    ///
    /// - Parameter taken: What the last retry took; one token when there was none.
    public func refund(_ taken: Int?) {
        state.withLock { $0 += min(capacity - $0, max(0, taken ?? 1)) }
    }
}
