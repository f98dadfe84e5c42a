import Switchyard

/// One way things can be at three servers, and how a client is used there.
struct HarmWorld: Sendable {
    /// What the calls of a world are.
    enum Kind: String, Sendable {
        case read
        case write
        /// A write with an idempotency key.
        case keyed
    }

    /// When calls are made.
    enum Rhythm: Sendable {
        /// Each caller waits for its answer and pauses: on the mean so long that a client makes about 1,000 calls a
        /// second, which leaves a machine of two cores idle half of the time.
        case steady
        /// All callers pause about 5 s, which is when the servers close connections that were idle for so long.
        case apart
        /// Six calls of the odd endpoint, then 200 of the others, over and over.
        case quota
    }

    private(set) var name: String
    /// What is wrong with one endpoint; nothing unless set.
    var oddity: Oddity?
    /// Whether the endpoint is odd on the first server only.
    var isFirstOnly = false
    /// What is wrong with the servers; nothing unless set.
    var weather = Weather()
    var kind = Kind.read
    var rhythm = Rhythm.steady
    /// Calls at a time.
    var callers = 20
    /// How many of the callers use the odd endpoint.
    var oddCallers = 0
    /// What the service says that 429 means.
    var tooManyRequests = TooManyRequests.quota
    /// How long it is played at least, in seconds.
    var leastSeconds = 0.0
    /// What is asked of a client with switching.
    var limits = HarmLimits()

    /// The deadline of a call.
    static let deadline = Duration.seconds(5)

    /// A world with an odd endpoint, used by a fifth of the callers.
    init(odd oddity: Oddity, onFirstOnly isFirstOnly: Bool = false) {
        name = "odd-\(oddity.name)" + (isFirstOnly ? "-first" : "")
        self.oddity = oddity
        self.isFirstOnly = isFirstOnly
        oddCallers = callers / 5
        limits.areAlike = !isFirstOnly
        if isFirstOnly, oddity.isMasked { maskOddity() }
    }

    /// Asks of clients with switching to hide what only the first server has, and quickly.
    private mutating func maskOddity() {
        limits.oddP99 = 60
        limits.failsNone = true
        // The calls that find out take longer; one in a hundred is enough of them only when there are enough calls.
        leastSeconds = 16
    }

    /// A world of weather, where every endpoint is as well as its server.
    init(_ name: String, _ weather: Weather, limits: HarmLimits = HarmLimits()) {
        self.name = name
        self.weather = weather
        self.limits = limits
    }

    /// The same with something changed, and a name that says so.
    func with(_ suffix: String, _ change: (inout HarmWorld) -> Void) -> HarmWorld {
        var copy = self
        copy.name += "-\(suffix)"
        change(&copy)
        return copy
    }
}

// MARK: - One dimension changed

extension HarmWorld {
    /// The same with so many percent of the callers on the odd endpoint.
    func share(_ percent: Int) -> HarmWorld {
        with("share\(percent)") { $0.oddCallers = $0.callers * percent / 100 }
    }

    /// The same where the service says that 429 is the overload of one server.
    var tooManyPerServer: HarmWorld {
        with("per-server") { world in
            world.tooManyRequests = .overload
            world.maskOddity()
        }
    }

    /// The same with so many callers, the same share of them on the odd endpoint, and one at least.
    func callers(_ count: Int) -> HarmWorld {
        with("callers\(count)") { world in
            if world.oddCallers > 0 { world.oddCallers = max(1, count * world.oddCallers / world.callers) }
            world.callers = count
            // All that are under way when a server turns odd wait for a hedge, and are to be one in a hundred at most.
            if world.limits.oddP99 != nil { world.leastSeconds = max(world.leastSeconds, Double(count) * 0.15) }
        }
    }

    /// The same with calls of another kind; a write without a key can be no safer than its server.
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
