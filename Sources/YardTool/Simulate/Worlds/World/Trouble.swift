/// Something that goes wrong in a world: what, where, when and how often.
struct Trouble: Sendable, Equatable {
    /// What goes wrong.
    enum Fault: Sendable, Equatable {
        /// The answer has this status; it may say after how many seconds to come back.
        case status(Int, retryAfter: Int?)
        /// The answer comes about so many seconds later, half as many to half as many more.
        case slow(Double)
        /// The request is taken and never answered.
        case hang
        /// Packets are lost: no connection comes about, and one that stands is silent.
        case blackHole
        /// Nothing listens; what is under way when it begins is broken off.
        case refused
        /// The connection breaks before the answer.
        case reset
        /// The answer breaks off.
        case truncated
        /// The answer is not HTTP.
        case garbage
        /// From so many calls per period on the answer is 429: counted by each server, or by all together.
        case quota(Int, period: Double, isPerServer: Bool)
    }

    /// When it goes wrong, in seconds.
    struct Window: Sendable, Equatable {
        var begin: Double
        var end: Double
        /// Where it comes and goes: how long a round takes, and how much of it is bad.
        var cycle: Cycle?

        struct Cycle: Sendable, Equatable {
            var period: Double
            var bad: Double
        }
    }

    var fault: Fault
    /// The server, `nil`: all alike.
    var server: Int?
    /// The endpoint, `nil`: all.
    var endpoint: Int?
    /// When; `nil`: always.
    var window: Window?
    /// The part of the requests that it strikes.
    var share = 1.0
    /// Whether it strikes a call wherever that is sent, and not each sending by itself.
    var isOfCall = false
    /// Tells its draws from those of others.
    var salt: UInt64

    /// Whether the whole server is down while it lasts.
    var takesDown: Bool { endpoint == nil && share == 1 }

    /// Whether it concerns requests to an endpoint on a server.
    func concerns(server: Int, endpoint: Int) -> Bool {
        (self.server ?? server) == server && (self.endpoint ?? endpoint) == endpoint
    }

    /// Whether it is bad at a time.
    func isActive(at time: Double) -> Bool { window.map { $0.isBad(at: time) } ?? true }
}

extension Trouble.Window {
    /// Whether it is bad at a time.
    func isBad(at time: Double) -> Bool {
        guard time >= begin, time < end else { return false }
        guard let cycle else { return true }
        return (time - begin).truncatingRemainder(dividingBy: cycle.period) < cycle.bad
    }

    /// When it next begins to be bad behind a time; `nil` when it does not.
    func nextBegin(after time: Double) -> Double? {
        if time < begin { return begin }
        guard let cycle else { return nil }
        let next = begin + (((time - begin) / cycle.period).rounded(.down) + 1) * cycle.period
        return next < end ? next : nil
    }
}
