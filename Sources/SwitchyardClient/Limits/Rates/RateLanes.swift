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

    /// A key; changed where it lies, since a copy of its line would cost every arrival as much as are waiting.
    private struct Lane {
        var meter: RateMeter
        /// Those who wait, in order; those who left are still in it until their turn.
        var line: [Number] = []
        var head = 0
        var waiting: Set<Number> = []

        /// Lets a request go if no other waits and it is not too early, else returns the time of its turn.
        mutating func pass(at now: MonotonicTime, notBefore start: MonotonicTime) -> MonotonicTime? {
            if waiting.isEmpty, start <= now, meter.take(at: now) { return nil }
            return meter.next(at: max(now, start), behind: waiting.count)
        }

        mutating func enter(_ number: Number) {
            line.append(number)
            waiting.insert(number)
        }

        /// Takes one out; its place in the line goes together with others, once most of them are nobody's.
        mutating func leave(_ number: Number) -> Bool {
            guard waiting.remove(number) != nil else { return false }
            if line.count > 2 * waiting.count + 32 {
                line = line[head...].filter(waiting.contains)
                head = 0
            }
            return true
        }

        /// Lets go whose turn it is.
        mutating func turn(at now: MonotonicTime) -> Turn {
            var turn = Turn()
            while head < line.count {
                let number = line[head]
                if waiting.contains(number) {
                    guard meter.take(at: now) else {
                        turn.next = meter.next(at: now)
                        break
                    }
                    waiting.remove(number)
                    turn.admitted.append(number)
                }
                head += 1
            }
            if head > 32, head * 2 > line.count {
                line.removeFirst(head)
                head = 0
            }
            return turn
        }
    }

    private let rule: RateRule
    private let excess: RateExcess
    private let maximumWaiting: Int
    private var lanes: [String: Lane] = [:]
    private var lastNumber: Number = 0
    private var sweepAt = 64
    /// How many requests wait.
    private(set) var waiting = 0
    /// The end of the pause in which no request begins.
    private var pauseEnd = MonotonicTime.zero

    init(_ rule: RateRule, _ excess: RateExcess, maximumWaiting: Int) {
        self.rule = rule
        self.excess = excess
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// How many keys are remembered.
    var count: Int { lanes.count }

    /// How many places there are in the lines, those of who left among them.
    var places: Int { lanes.values.reduce(0) { $0 + $1.line.count } }

    mutating func arrive(_ key: String, at now: MonotonicTime, deadline: MonotonicTime) -> Arrival {
        sweep(at: now)
        let lane = lanes[key, default: Lane(meter: RateMeter(rule))].pass(at: now, notBefore: pauseEnd)
        guard let turn = lane else { return .go }
        let wait = now.duration(to: turn)
        guard case .wait(let limit) = excess, wait <= limit ?? wait, turn < deadline else { return .refuse(wait: wait) }
        guard waiting < maximumWaiting else { return .refuse(wait: nil) }
        lastNumber += 1
        waiting += 1
        lanes[key]?.enter(lastNumber)
        return .wait(lastNumber)
    }

    /// Takes one out who does not want to wait any more.
    mutating func leave(_ key: String, _ number: Number) {
        if lanes[key]?.leave(number) == true { waiting -= 1 }
    }

    /// Lets go whose turn it is.
    mutating func turn(_ key: String, at now: MonotonicTime) -> Turn {
        if now < pauseEnd { return Turn(next: lanes[key]?.waiting.isEmpty == false ? pauseEnd : nil) }
        guard let turn = lanes[key]?.turn(at: now) else { return Turn() }
        waiting -= turn.admitted.count
        return turn
    }

    /// Lets no request begin before a time.
    mutating func pause(until time: MonotonicTime) {
        pauseEnd = max(pauseEnd, time)
    }

    private mutating func sweep(at now: MonotonicTime) {
        guard lanes.count >= sweepAt else { return }
        lanes = lanes.filter { !$0.value.waiting.isEmpty || !$0.value.meter.isFresh(at: now) }
        sweepAt = max(64, lanes.count * 2)
    }
}
