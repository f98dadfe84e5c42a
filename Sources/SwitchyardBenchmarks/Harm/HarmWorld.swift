import Switchyard

/// A scenario: the conditions of three servers and the calls that a client makes.
struct HarmWorld: Sendable {
    /// The kind of calls in a scenario.
    enum Kind: String, Sendable {
        case read
        case write
        /// A write request with an idempotency key.
        case keyed
    }

    /// The pauses between the calls of the callers.
    enum Rhythm: Sendable {
        /// Each caller waits for its response and then pauses.
        ///
        /// With the mean pause, a client makes about 1,000 calls a second, so that a machine with two cores is idle for
        /// half of the time.
        case steady
        /// All callers pause for about 5 s, the time after which the servers close idle connections.
        case apart
        /// Six calls to the endpoint that misbehaves, then 200 calls to the other endpoints, repeatedly.
        case quota
    }

    private(set) var name: String
    /// The misbehavior of one endpoint (the odd endpoint), or `nil` if all endpoints are healthy.
    var oddity: Oddity?
    /// Whether the endpoint that misbehaves does so only on the first server.
    var isFirstOnly = false
    /// The conditions that affect whole servers; by default, all servers are healthy.
    var conditions = ServerConditions()
    var kind = Kind.read
    var rhythm = Rhythm.steady
    /// The number of concurrent callers.
    var callers = 20
    /// The number of callers that use the endpoint that misbehaves.
    var oddCallers = 0
    /// The meaning of status 429 in the settings of the service.
    var tooManyRequests = SwitchPolicy.TooManyRequests.quota
    /// The minimum duration of the scenario in seconds.
    var leastSeconds = 0.0
    /// The limits that a client with switching must keep.
    var limits = HarmLimits()

    /// The deadline of a call.
    static let deadline = Duration.seconds(5)

    /// Creates a scenario with an endpoint that misbehaves (the odd endpoint).
    ///
    /// A fifth of the callers use this endpoint.
    init(odd oddity: Oddity, onFirstOnly isFirstOnly: Bool = false) {
        name = "odd-\(oddity.name)" + (isFirstOnly ? "-first" : "")
        self.oddity = oddity
        self.isFirstOnly = isFirstOnly
        oddCallers = callers / 5
        limits.areAlike = !isFirstOnly
        if isFirstOnly, oddity.isMasked { maskOddity() }
    }

    /// Sets the limits for a misbehavior that only the first server has: callers of a client with switching must not
    /// notice it, except for the first calls.
    private mutating func maskOddity() {
        limits.oddP99 = 60
        limits.failsNone = true
        // The first calls take longer, until the misbehavior is detected. With this duration, they are less than 1 % of
        // the calls.
        leastSeconds = 16
    }

    /// Creates a scenario with conditions of whole servers, without an endpoint that misbehaves.
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
    /// Returns a copy in which this percentage of the callers uses the endpoint that misbehaves.
    func share(_ percent: Int) -> HarmWorld {
        with("share\(percent)") { $0.oddCallers = $0.callers * percent / 100 }
    }

    /// A copy in which the service declares that a 429 means that the server which sent it is overloaded.
    var tooManyPerServer: HarmWorld {
        with("per-server") { world in
            world.tooManyRequests = .overload
            world.maskOddity()
        }
    }

    /// Returns a copy with `count` callers.
    ///
    /// The fraction of the callers that use the endpoint that misbehaves stays the same. At least one caller uses it.
    func callers(_ count: Int) -> HarmWorld {
        with("callers\(count)") { world in
            if world.oddCallers > 0 { world.oddCallers = max(1, count * world.oddCallers / world.callers) }
            world.callers = count
            // All calls that are in progress when an endpoint starts to misbehave wait until a hedge (a second request
            // to another server) responds. These calls must be at most 1 % of all calls.
            if world.limits.oddP99 != nil { world.leastSeconds = max(world.leastSeconds, Double(count) * 0.15) }
        }
    }

    /// Returns a copy with another kind of calls.
    ///
    /// A write request without an idempotency key may not be sent to another server, so the limits do not apply to it
    /// and are removed.
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
