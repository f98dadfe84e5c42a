/// A server with a capacity, a first-in-first-out queue, and optionally an outage.
///
/// A request waits until the server has done the work that was in the queue before it, and receives its response
/// ``serviceTime`` later.
struct SimulatedServer: Sendable {
    /// The usual ``serviceTime``.
    static let serviceTime = 0.05
    /// The work of rejecting a request with 503, in units of one request.
    static let rejectionCost = 0.05

    /// A period in which the server does not respond.
    struct Outage: Sendable {
        /// Whether connections are refused.
        ///
        /// If `false`, requests hang.
        var refuses: Bool
        /// The period in seconds.
        var span: Range<Double>
    }

    /// The result of a request, and the time in seconds at which the client receives it.
    enum Reply: Equatable, Sendable {
        /// The server sends a response.
        case answer(at: Double)
        /// The server rejects the request with status 503.
        case rejection(at: Double)
        /// The connection is refused.
        case refusal(at: Double)
        /// The server dies while the request is in its queue.
        case reset(at: Double)
        /// The client never receives a result.
        case silence
    }

    /// The capacity over time, in requests per second.
    let capacity: CapacityProfile
    /// The period in which the server does not respond, or `nil` if there is no such period.
    let outage: Outage?
    /// The time in seconds from the end of a request's wait in the queue to its response, including the network.
    let serviceTime: Double
    private let model: ServerModel
    /// The total work that the server has done when the last entry of the queue is processed.
    private var tail = 0.0

    init(
        capacity: CapacityProfile,
        outage: Outage? = nil,
        serviceTime: Double = SimulatedServer.serviceTime,
        model: ServerModel
    ) {
        self.serviceTime = serviceTime
        self.capacity = capacity
        self.outage = outage
        self.model = model
    }

    /// Returns the work that the server can do per second at a time, which is 0 during an outage.
    func rate(at time: Double) -> Double {
        outage?.span.contains(time) == true ? 0 : capacity.rate(at: time)
    }

    /// Returns the work in the queue at the given time, in requests.
    func backlog(at time: Double) -> Double {
        max(0, tail - capacity.work(until: time))
    }

    /// Adds a request to the queue.
    ///
    /// - Parameters:
    ///   - cost: The work of the request, in units of one request.
    ///   - time: The current time.
    ///   - deadline: The time at which the client stops waiting.
    /// - Returns: The result of the request, and its position in the queue: the total work that the server has done
    ///   when the request is processed.
    mutating func take(cost: Double, at time: Double, until deadline: Double) -> (reply: Reply, place: Double) {
        if let outage, outage.span.contains(time) {
            return (outage.refuses ? .refusal(at: time + serviceTime) : .silence, 0)
        }
        let done = capacity.work(until: time)
        let rate = capacity.rate(at: time)
        let place = max(tail, done)
        let wait = (place - done + cost / 2) / rate
        if wait > model.longestQueue {
            tail = place + Self.rejectionCost
            return (.rejection(at: time + serviceTime), place)
        }
        if model.dropsAbandoned, time + wait > deadline {
            tail = place + Self.rejectionCost
            return (.silence, place)
        }
        tail = place + cost
        return (reply(whenDone: capacity.time(ofWork: place), to: time), place)
    }

    /// Returns a response, or the failure if the server goes down while the request is in the queue.
    private func reply(whenDone done: Double, to time: Double) -> Reply {
        guard let outage, time < outage.span.lowerBound, done >= outage.span.lowerBound else {
            return .answer(at: done + serviceTime)
        }
        return outage.refuses ? .reset(at: outage.span.lowerBound) : .silence
    }

    /// Drops a request that the client no longer waits for, if the server model supports this and the request is still
    /// in the queue.
    mutating func drop(cost: Double, place: Double, at time: Double) {
        let done = capacity.work(until: time)
        guard model.dropsAbandoned, place > done else { return }
        tail = max(done, tail - cost)
    }
}
