package import SwitchyardHTTP
import SwitchyardServices

/// A budget that limits the retries of many requests together.
///
/// The budget is a bucket of tokens. Every retry takes tokens from it. If a service is down, retries of every request
/// would multiply the load on its remaining servers. If the bucket is empty, requests fail immediately instead. A
/// request that succeeds returns the tokens that its last retry took, or one token if it needed no retry (AWS SDK,
/// standard retry mode).
///
/// Share one budget among all clients of a service. It can be used from any thread.
public final class RetryBudget: Sendable {
    /// The maximum number of tokens in the bucket.
    package let capacity: Int
    /// The number of tokens that a retry takes.
    package let cost: Int
    /// The number of tokens that a retry after a timeout takes.
    ///
    /// The number is higher than ``cost`` by default, because a request that timed out has occupied a server for
    /// longer.
    package let timeoutCost: Int
    private let state: Locked<Int>

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of tokens, 500 by default. A negative number counts as 0.
    ///   - cost: The number of tokens that a retry takes, 5 by default. A full bucket then allows 100 retries.
    ///   - timeoutCost: The number of tokens that a retry after a timeout takes, 10 by default.
    public init(capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10) {
        self.capacity = max(0, capacity)
        self.cost = max(0, cost)
        self.timeoutCost = max(0, timeoutCost)
        state = Locked(max(0, capacity))
    }

    /// The number of tokens that are left in the bucket.
    public var available: Int { state.withLock { $0 } }

    /// Takes the tokens for a retry.
    ///
    /// - Parameter error: The failure that causes the retry. If `nil`, a response status causes the retry.
    /// - Returns: The number of tokens taken, or `nil` if too few are left and the request must not be retried.
    package func take(after error: TransportError? = nil) -> Int? {
        let isTimeout = error?.kind == .timeout || error?.kind == .connectTimeout
        let price = isTimeout ? timeoutCost : cost
        return state.withLock { available in
            guard available >= price else { return nil }
            available -= price
            return price
        }
    }

    /// Returns tokens to the bucket, after a success or for a retry that did not happen.
    ///
    /// - Parameter taken: The number of tokens that the last retry took. If `nil`, one token is returned.
    package func refund(_ taken: Int?) {
        state.withLock { $0 += min(capacity - $0, max(0, taken ?? 1)) }
    }
}
