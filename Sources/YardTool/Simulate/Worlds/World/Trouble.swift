/// A failure in a world, with its location, time and frequency.
struct Trouble: Sendable, Equatable {
    /// The kind of failure.
    enum Fault: Sendable, Equatable {
        /// The response has this status and optionally a `Retry-After` in seconds.
        case status(Int, retryAfter: Int?)
        /// The response is delayed by about this number of seconds, varied by half in either direction.
        case slow(Double)
        /// The server accepts the request and never responds.
        case hang
        /// Packets are lost: no connection is established, and open connections are silent.
        case blackHole
        /// No process listens; exchanges in flight are aborted when the trouble starts.
        case refused
        /// The connection breaks before the response.
        case reset
        /// The response is incomplete.
        case truncated
        /// The response is not HTTP.
        case garbage
        /// The response is 429 after this number of calls in a period, counted by each server or by all servers
        /// together.
        case quota(Int, period: Double, isPerServer: Bool)
    }

    /// The time of the trouble in seconds.
    struct Window: Sendable, Equatable {
        var begin: Double
        var end: Double
        /// The cycle, if the trouble is intermittent: its length, and the length of its bad part.
        var cycle: Cycle?

        struct Cycle: Sendable, Equatable {
            var period: Double
            var bad: Double
        }
    }

    var fault: Fault
    /// The server, or `nil` if all servers are equally affected.
    var server: Int?
    /// The endpoint, or `nil` for all endpoints.
    var endpoint: Int?
    /// The time window, or `nil` for always.
    var window: Window?
    /// The share of the requests that are affected.
    var share = 1.0
    /// Whether the trouble affects a call on every server, instead of each request independently.
    var isOfCall = false
    /// The salt that makes the random draws of the trouble independent of others.
    var salt: UInt64

    /// Whether the whole server is down during the trouble.
    var takesDown: Bool { endpoint == nil && share == 1 }

    /// Returns whether the trouble concerns requests to an endpoint on a server.
    func concerns(server: Int, endpoint: Int) -> Bool {
        (self.server ?? server) == server && (self.endpoint ?? endpoint) == endpoint
    }

    /// Returns whether the trouble is active at a time.
    func isActive(at time: Double) -> Bool { window.map { $0.isBad(at: time) } ?? true }
}

extension Trouble.Window {
    /// Returns whether the trouble is active at a time.
    func isBad(at time: Double) -> Bool {
        guard time >= begin, time < end else { return false }
        guard let cycle else { return true }
        return (time - begin).truncatingRemainder(dividingBy: cycle.period) < cycle.bad
    }

    /// Returns the next time after `time` at which the trouble becomes active, or `nil` if there is none.
    func nextBegin(after time: Double) -> Double? {
        if time < begin { return begin }
        guard let cycle else { return nil }
        let next = begin + (((time - begin) / cycle.period).rounded(.down) + 1) * cycle.period
        return next < end ? next : nil
    }
}
