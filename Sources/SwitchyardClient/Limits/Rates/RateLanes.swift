import SwitchyardServices

/// The keys of a rate limit, each with its meter and the requests that wait: a pure state machine.
///
/// Keys whose past plays no part are removed while others are looked up, so that the table stays as small as what is
/// going on; no timer runs for it.
struct RateLanes {
    typealias Number = UInt64

    /// What becomes of a request that arrives.
    enum Arrival: Equatable {
        case go
        case refuse(wait: Duration?)
        case wait(Number)
    }

    /// Who may go now, and when to look again.
    struct Turn: Equatable {
        var admitted: [Number] = []
        var next: MonotonicTime?
    }

    private struct Lane {
        var meter: RateMeter
        /// Those who wait, in order; those who left are still in it until their turn.
        var line: [Number] = []
        var head = 0
        var waiting: Set<Number> = []
    }

    private let rule: RateRule
    private let excess: RateExcess
    private let maximumWaiting: Int
    private var lanes: [String: Lane] = [:]
    private var lastNumber: Number = 0
    private var sweepAt = 64

    init(_ rule: RateRule, _ excess: RateExcess, maximumWaiting: Int) {
        self.rule = rule
        self.excess = excess
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// How many keys are remembered.
    var count: Int { lanes.count }
    /// How many requests wait.
    var waiting: Int { lanes.values.reduce(0) { $0 + $1.waiting.count } }

    mutating func arrive(_ key: String, at now: MonotonicTime, deadline: MonotonicTime) -> Arrival {
        sweep(at: now)
        var lane = lanes[key] ?? Lane(meter: RateMeter(rule))
        if lane.waiting.isEmpty, lane.meter.take(at: now) {
            lanes[key] = lane
            return .go
        }
        let turn = lane.meter.next(at: now, behind: lane.waiting.count)
        let wait = now.duration(to: turn)
        guard case .wait(let limit) = excess, wait <= limit ?? wait, turn < deadline else { return .refuse(wait: wait) }
        guard waiting < maximumWaiting else { return .refuse(wait: nil) }
        lastNumber += 1
        lane.line.append(lastNumber)
        lane.waiting.insert(lastNumber)
        lanes[key] = lane
        return .wait(lastNumber)
    }

    /// Takes one out who does not want to wait any more.
    mutating func leave(_ key: String, _ number: Number) {
        lanes[key]?.waiting.remove(number)
    }

    /// Lets go whose turn it is.
    mutating func turn(_ key: String, at now: MonotonicTime) -> Turn {
        guard var lane = lanes[key] else { return Turn() }
        var turn = Turn()
        while lane.head < lane.line.count {
            let number = lane.line[lane.head]
            if lane.waiting.contains(number) {
                guard lane.meter.take(at: now) else {
                    turn.next = lane.meter.next(at: now)
                    break
                }
                lane.waiting.remove(number)
                turn.admitted.append(number)
            }
            lane.head += 1
        }
        if lane.head > 32, lane.head * 2 > lane.line.count {
            lane.line.removeFirst(lane.head)
            lane.head = 0
        }
        lanes[key] = lane
        return turn
    }

    private mutating func sweep(at now: MonotonicTime) {
        guard lanes.count >= sweepAt else { return }
        lanes = lanes.filter { !$0.value.waiting.isEmpty || !$0.value.meter.isFresh(at: now) }
        sweepAt = max(64, lanes.count * 2)
    }
}
