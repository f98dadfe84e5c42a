import Switchyard

/// A world: the conditions of three servers and the way in which a client uses them.
struct HarmWorld: Sendable {
    /// The kind of calls in a world.
    enum Kind: String, Sendable {
        case read
        case write
        /// A write with an idempotency key.
        case keyed
    }

    /// The rhythm of calls.
    enum Rhythm: Sendable {
        /// Each caller waits for its response and pauses.
        ///
        /// The mean pause is chosen so that a client makes about 1,000 calls a second, which leaves a machine with two
        /// cores half idle.
        case steady
        /// All callers pause for about 5 s, which is the idle timeout of the servers' connections.
        case apart
        /// Six calls to the odd endpoint, then 200 calls to the other endpoints, repeatedly.
        case quota
    }

    private(set) var name: String
    /// The misbehavior of one endpoint, or `nil` if all endpoints are healthy.
    var oddity: Oddity?
    /// Whether the endpoint misbehaves only on the first server.
    var isFirstOnly = false
    /// The conditions that affect whole servers; by default, all servers are healthy.
    var conditions = ServerConditions()
    var kind = Kind.read
    var rhythm = Rhythm.steady
    /// The number of concurrent callers.
    var callers = 20
    /// The number of callers that use the odd endpoint.
    var oddCallers = 0
    /// The service's configured meaning of status 429.
    var tooManyRequests = TooManyRequests.quota
    /// The minimum duration in seconds.
    var leastSeconds = 0.0
    /// The limits for a client with switching.
    var limits = HarmLimits()

    /// The deadline of a call.
    static let deadline = Duration.seconds(5)

    /// Creates a world with an odd endpoint, which a fifth of the callers use.
    init(odd oddity: Oddity, onFirstOnly isFirstOnly: Bool = false) {
        name = "odd-\(oddity.name)" + (isFirstOnly ? "-first" : "")
        self.oddity = oddity
        self.isFirstOnly = isFirstOnly
        oddCallers = callers / 5
        limits.areAlike = !isFirstOnly
        if isFirstOnly, oddity.isMasked { maskOddity() }
    }

    /// Requires clients with switching to hide, quickly, an oddity that only the first server has.
    private mutating func maskOddity() {
        limits.oddP99 = 60
        limits.failsNone = true
        // The first calls, which detect the oddity, take longer. They are less than 1 % of the calls only if there are
        // enough calls.
        leastSeconds = 16
    }

    /// Creates a world with server conditions, in which no endpoint misbehaves by itself.
    init(_ name: String, _ conditions: ServerConditions, limits: HarmLimits = HarmLimits()) {
        self.name = name
        self.conditions = conditions
        self.limits = limits
    }

    /// Returns a changed copy whose name has a suffix.
    func with(_ suffix: String, _ change: (inout HarmWorld) -> Void) -> HarmWorld {
        var copy = self
        copy.name += "-\(suffix)"
        change(&copy)
        return copy
    }
}

// MARK: - Variants

extension HarmWorld {
    /// Returns a copy in which this percentage of the callers uses the odd endpoint.
    func share(_ percent: Int) -> HarmWorld {
        with("share\(percent)") { $0.oddCallers = $0.callers * percent / 100 }
    }

    /// A copy in which the service declares that 429 means the overload of one server.
    var tooManyPerServer: HarmWorld {
        with("per-server") { world in
            world.tooManyRequests = .overload
            world.maskOddity()
        }
    }

    /// Returns a copy with this number of callers, in which the same share, and at least one caller, uses the odd
    /// endpoint.
    func callers(_ count: Int) -> HarmWorld {
        with("callers\(count)") { world in
            if world.oddCallers > 0 { world.oddCallers = max(1, count * world.oddCallers / world.callers) }
            world.callers = count
            // All calls that are in flight when a server becomes odd wait for a hedge, and must be at most 1 % of the
            // calls.
            if world.limits.oddP99 != nil { world.leastSeconds = max(world.leastSeconds, Double(count) * 0.15) }
        }
    }

    /// Returns a copy with another kind of calls.
    ///
    /// A write without an idempotency key cannot be more reliable than its server, so the limits are removed for it.
    func kind(_ kind: Kind) -> HarmWorld {
        with(kind.rawValue) { world in
            world.kind = kind
            guard kind == .write else { return }
            world.limits.failsNone = false
            world.limits.wellP99 = nil
            world.limits.oddP99 = nil
        }
    }
}
