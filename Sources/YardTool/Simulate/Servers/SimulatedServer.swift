/// A server with a capacity, a first-in-first-out queue, and perhaps an outage.
///
/// The queue is a fluid: a request waits for the work before it and is answered ``serviceTime`` later.
struct SimulatedServer: Sendable {
    /// The time between the end of the wait and the answer, the network's part included, in seconds.
    static let serviceTime = 0.05
    /// The work that a rejection costs, in units of one request.
    static let rejectionCost = 0.05

    /// A time in which the server answers nobody.
    struct Outage: Sendable {
        /// Whether connections are refused; otherwise requests hang.
        var refuses: Bool
        /// From when until when, in seconds.
        var span: Range<Double>
    }

    /// What becomes of a request, and when its sender learns of it, in seconds.
    enum Reply: Equatable, Sendable {
        /// It is answered.
        case answer(at: Double)
        /// It is rejected: 503.
        case rejection(at: Double)
        /// The connection is refused.
        case refusal(at: Double)
        /// The server dies while the request is in its queue.
        case reset(at: Double)
        /// Nothing is ever heard of it.
        case silence
    }

    /// The capacity over time, in requests per second.
    let capacity: CapacityProfile
    /// When it answers nobody.
    let outage: Outage?
    private let model: ServerModel
    /// The work after which the last entry of the queue is done.
    private var tail = 0.0

    init(capacity: CapacityProfile, outage: Outage? = nil, model: ServerModel) {
        self.capacity = capacity
        self.outage = outage
        self.model = model
    }

    /// The work that waits at a time, in requests.
    func backlog(at time: Double) -> Double {
        max(0, tail - capacity.work(until: time))
    }

    /// Takes a request in.
    ///
    /// - Parameters:
    ///   - cost: Its work, in units of one request.
    ///   - time: The time.
    ///   - deadline: When its sender gives up.
    /// - Returns: What becomes of it, and its place: the work after which its turn has come.
    mutating func take(cost: Double, at time: Double, until deadline: Double) -> (reply: Reply, place: Double) {
        if let outage, outage.span.contains(time) {
            return (outage.refuses ? .refusal(at: time + Self.serviceTime) : .silence, 0)
        }
        let done = capacity.work(until: time)
        let rate = capacity.rate(at: time)
        let place = max(tail, done)
        let wait = (place - done + cost / 2) / rate
        if wait > model.longestQueue {
            tail = place + Self.rejectionCost
            return (.rejection(at: time + Self.serviceTime), place)
        }
        if model.dropsAbandoned, time + wait > deadline {
            tail = place + Self.rejectionCost
            return (.silence, place)
        }
        tail = place + cost
        return (reply(whenDone: capacity.time(ofWork: place), to: time), place)
    }

    /// An answer, unless the server fails while the request is still in the queue.
    private func reply(whenDone done: Double, to time: Double) -> Reply {
        guard let outage, time < outage.span.lowerBound, done >= outage.span.lowerBound else {
            return .answer(at: done + Self.serviceTime)
        }
        return outage.refuses ? .reset(at: outage.span.lowerBound) : .silence
    }

    /// Drops a request that is not wanted any more, if this kind of server does and its turn has not come.
    mutating func drop(cost: Double, place: Double, at time: Double) {
        let done = capacity.work(until: time)
        guard model.dropsAbandoned, place > done else { return }
        tail = max(done, tail - cost)
    }
}
