import SwitchyardServices

/// The keys of a rate limit, each with its meter and its waiting requests, as a pure state machine.
///
/// A key is removed when its past requests no longer affect new requests. Keys are removed while requests arrive, so
/// the size of the table stays proportional to the current traffic without a timer.
struct RateLanes {
    typealias Number = UInt64

    /// The decision about a new request.
    enum Arrival: Equatable {
        case go
        case refuse(wait: Duration?)
        case wait(Number)
    }

    /// The waiting requests that may begin now, and the time at which the next request may begin.
    struct Turn: Equatable {
        var admitted: [Number] = []
        var next: MonotonicTime?
    }

    /// The state of one key.
    ///
    /// The value is mutated in place, because copying its queue at every arrival would take time proportional to the
    /// length of the queue.
    private struct Lane {
        var meter: RateMeter
        /// The waiting requests in order of arrival.
        ///
        /// A cancelled request stays in the queue until its turn, or until ``leave(_:)`` removes the cancelled
        /// requests.
        var line: [Number] = []
        var head = 0
        var waiting: Set<Number> = []

        /// Admits a request if no other request waits and the rate allows a request now.
        ///
        /// Returns `nil` if the request is admitted, otherwise the time at which it may begin.
        mutating func pass(at now: MonotonicTime, notBefore start: MonotonicTime) -> MonotonicTime? {
            if waiting.isEmpty, start <= now, meter.take(at: now) { return nil }
            return meter.next(at: max(now, start), behind: waiting.count)
        }

        mutating func enter(_ number: Number) {
            line.append(number)
            waiting.insert(number)
        }

        /// Removes a waiting request.
        ///
        /// When more than half of the entries in the queue belong to cancelled requests, these entries are removed.
        mutating func leave(_ number: Number) -> Bool {
            guard waiting.remove(number) != nil else { return false }
            if line.count > 2 * waiting.count + 32 {
                line = line[head...].filter(waiting.contains)
                head = 0
            }
            return true
        }

        /// Admits the waiting requests that may begin now.
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
    /// The number of waiting requests.
    private(set) var waiting = 0
    /// The end of the pause during which no request begins.
    private var pauseEnd = MonotonicTime.zero

    init(_ rule: RateRule, _ excess: RateExcess, maximumWaiting: Int) {
        self.rule = rule
        self.excess = excess
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// The number of keys in the table.
    var count: Int { lanes.count }

    /// The number of queue entries, including those of cancelled requests.
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

    /// Removes a waiting request that was cancelled.
    mutating func leave(_ key: String, _ number: Number) {
        if lanes[key]?.leave(number) == true { waiting -= 1 }
    }

    /// Admits the waiting requests of a key that may begin now.
    mutating func turn(_ key: String, at now: MonotonicTime) -> Turn {
        if now < pauseEnd { return Turn(next: lanes[key]?.waiting.isEmpty == false ? pauseEnd : nil) }
        guard let turn = lanes[key]?.turn(at: now) else { return Turn() }
        waiting -= turn.admitted.count
        return turn
    }

    /// Pauses all keys, so that no request begins before a time.
    mutating func pause(until time: MonotonicTime) {
        pauseEnd = max(pauseEnd, time)
    }

    private mutating func sweep(at now: MonotonicTime) {
        guard lanes.count >= sweepAt else { return }
        lanes = lanes.filter { !$0.value.waiting.isEmpty || !$0.value.meter.isFresh(at: now) }
        sweepAt = max(64, lanes.count * 2)
    }
}
