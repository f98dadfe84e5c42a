/// A fault in a world (a random scenario), with the affected servers and endpoints, its time and its frequency.
struct Trouble: Sendable, Equatable {
    /// The kind of fault.
    enum Fault: Sendable, Equatable {
        /// The response has this status and optionally a `Retry-After` in seconds.
        case status(Int, retryAfter: Int?)
        /// The response is delayed by about this number of seconds, at random from half to one and a half times the
        /// number.
        case slow(Double)
        /// The server accepts the request and never responds.
        case hang
        /// Packets are lost: no connection is established, and open connections are silent.
        case blackHole
        /// Connections are refused. Requests in progress are aborted when the fault starts.
        case refused
        /// The connection breaks before the response.
        case reset
        /// The response is incomplete.
        case truncated
        /// The response is not HTTP.
        case garbage
        /// After this number of calls in a period, the response is 429. The calls are counted by each server separately
        /// or by all servers together.
        case quota(Int, period: Double, isPerServer: Bool)
    }

    /// The period in which the fault is active, in seconds.
    struct Window: Sendable, Equatable {
        var begin: Double
        var end: Double
        /// The length of a cycle, and how long the fault is active in each cycle, or `nil` if the fault is not
        /// intermittent.
        var cycle: Cycle?

        struct Cycle: Sendable, Equatable {
            var period: Double
            var bad: Double
        }
    }

    var fault: Fault
    /// The server, or `nil` if all servers are affected in the same way.
    var server: Int?
    /// The endpoint, or `nil` for all endpoints.
    var endpoint: Int?
    /// The period in which the fault is active, or `nil` if it is always active.
    var window: Window?
    /// The share of the requests that are affected.
    var share = 1.0
    /// If `share` is below 1, whether the fault affects the same calls on every server, and not different calls on each
    /// server.
    var isOfCall = false
    /// A number that makes the random numbers of this fault differ from those of other faults.
    var salt: UInt64

    /// Whether the fault affects all requests to the server, so that the whole server is down.
    var takesDown: Bool { endpoint == nil && share == 1 }

    /// Returns whether the fault can affect requests to an endpoint on a server.
    func concerns(server: Int, endpoint: Int) -> Bool {
        (self.server ?? server) == server && (self.endpoint ?? endpoint) == endpoint
    }

    /// Returns whether the fault is active at the given time.
    func isActive(at time: Double) -> Bool { window.map { $0.isBad(at: time) } ?? true }
}

extension Trouble.Window {
    /// Returns whether the fault is active at the given time.
    func isBad(at time: Double) -> Bool {
        guard time >= begin, time < end else { return false }
        guard let cycle else { return true }
        return (time - begin).truncatingRemainder(dividingBy: cycle.period) < cycle.bad
    }

    /// Returns the next time after `time` at which the fault becomes active, or `nil` if there is none.
    func nextBegin(after time: Double) -> Double? {
        if time < begin { return begin }
        guard let cycle else { return nil }
        let next = begin + (((time - begin) / cycle.period).rounded(.down) + 1) * cycle.period
        return next < end ? next : nil
    }
}
