import Foundation
import Switchyard

/// The result of a request: a response, a failure or silence.
struct ServerReply: Sendable, Equatable {
    /// The way in which a request ends.
    enum End: Sendable, Equatable {
        /// A complete response with a status and optionally a `Retry-After` in seconds.
        case answer(Int, retryAfter: Int?)
        /// A failure; `wasSent` is whether the request may have been sent.
        case failure(TransportError.Kind, wasSent: Bool)
        /// No response; `isConnected` is whether a connection was established.
        case silence(isConnected: Bool)
    }

    /// The time in seconds from the request to the end.
    var delay: Double
    var end: End
    /// The time in seconds from the request to its execution, or `nil` if the server never executes the request.
    ///
    /// The server executes the request even if the client has disconnected before that time.
    var executedAfter: Double?
    /// Whether the response depends on lost requests: if all requests that the client has sent had reached a server, a
    /// quota would already be used up.
    var owesToLosses = false

    /// Returns the status if the response arrives within this number of seconds.
    func status(within deadline: Double) -> Int? {
        guard delay <= deadline, case .answer(let status, _) = end else { return nil }
        return status
    }
}

/// A request that a server receives.
struct ServerQuestion: Sendable {
    /// The index of the call, or a unique number for a probe.
    var call: Int
    var endpoint: Int
    var server: Int
    /// The time in seconds at which the request is sent.
    var time: Double
}

/// The servers of a world (a random scenario) as one client uses them, with the number of requests of this client that
/// count against a quota.
struct WorldServers: Sendable {
    /// The key under which the requests for a quota are counted in one period.
    private struct Count: Hashable {
        var trouble: Int
        var server: Int
        var period: Int
    }

    private let world: World
    /// The number of requests that reached a server, by quota and period.
    ///
    /// In contrast, `sent` counts all requests that the client has sent.
    private var counts: [Count: Int] = [:]
    private var sent: [Count: Int] = [:]

    init(_ world: World) {
        self.world = world
    }

    /// Returns the reply to a request, and counts the request against the quotas.
    mutating func reply(to question: ServerQuestion) -> ServerReply {
        let latency = usualLatency(question) + slowness(question)
        var reply = ServerReply(delay: latency, end: .answer(200, retryAfter: nil), executedAfter: latency)
        for (index, trouble) in world.troubles.enumerated() where strikes(trouble, question) {
            if let struck = self.reply(to: question, struckBy: trouble, index, latency) {
                reply = struck
                break
            }
        }
        reply = interruption(of: question, before: reply.delay) ?? reply
        reply.owesToLosses = countSent(question)
        return reply
    }

    /// Returns the reply that a fault causes, or `nil` if the fault does not affect the request.
    private mutating func reply(
        to question: ServerQuestion,
        struckBy trouble: Trouble,
        _ index: Int,
        _ latency: Double
    ) -> ServerReply? {
        switch trouble.fault {
        case .slow: return nil
        case .status(let status, let pause):
            let end = ServerReply.End.answer(status, retryAfter: pause)
            return ServerReply(
                delay: latency,
                end: end,
                executedAfter: execution(of: question, answering: status, latency)
            )
        case .hang: return silence(of: question, in: trouble)
        case .blackHole:
            let isConnected = draw(trouble.salt &+ 1, question).unit < 0.5
            if isConnected { return silence(of: question, in: trouble) }
            return ServerReply(delay: .infinity, end: .silence(isConnected: false))
        case .refused: return ServerReply(delay: roundTrip, end: .failure(.connectionRefused, wasSent: false))
        case .reset:
            // A load balancer aborts the connection, but the server to which it has forwarded the request executes the
            // request.
            let end = ServerReply.End.failure(.connectionReset, wasSent: true)
            return ServerReply(delay: latency / 2, end: end, executedAfter: lateness(of: question))
        case .truncated:
            return ServerReply(delay: latency, end: .failure(.truncated, wasSent: true), executedAfter: latency)
        case .garbage:
            return ServerReply(delay: latency, end: .failure(.protocolViolation, wasSent: true), executedAfter: latency)
        case .quota(let most, let period, _):
            guard let place = place(of: question, index) else { return nil }
            counts[place, default: 0] += 1
            guard counts[place, default: 0] > most else { return nil }
            let pause = Int(((Double(place.period) + 1) * period - question.time).rounded(.up))
            return ServerReply(delay: roundTrip, end: .answer(429, retryAfter: pause))
        }
    }

    /// Counts a sent request, and returns whether a quota would be used up if all sent requests had reached a server.
    private mutating func countSent(_ question: ServerQuestion) -> Bool {
        var isUsedUp = false
        for (index, trouble) in world.troubles.enumerated() where strikes(trouble, question) {
            guard case .quota(let most, _, _) = trouble.fault, let place = place(of: question, index) else { continue }
            sent[place, default: 0] += 1
            if sent[place, default: 0] > most { isUsedUp = true }
        }
        return isUsedUp
    }

    /// Returns the key under which a request is counted, or `nil` if the fault with this index is not a quota or does
    /// not affect the request.
    private func place(of question: ServerQuestion, _ index: Int) -> Count? {
        guard case .quota(_, let period, let isPerServer) = world.troubles[index].fault else { return nil }
        let server = isPerServer ? question.server : 0
        return Count(trouble: index, server: server, period: Int(question.time / period))
    }

    /// Returns the result of the request if the server goes down before it responds; otherwise `nil`.
    private func interruption(of question: ServerQuestion, before delay: Double) -> ServerReply? {
        var first: (begin: Double, trouble: Trouble)?
        for trouble in world.troubles
        where trouble.takesDown && trouble.concerns(server: question.server, endpoint: question.endpoint) {
            guard let begin = trouble.window?.nextBegin(after: question.time) else { continue }
            if begin < min(first?.begin ?? .infinity, question.time + delay), trouble.fault.endsExchanges {
                first = (begin, trouble)
            }
        }
        guard let first else { return nil }
        guard first.trouble.fault == .refused else { return silence(of: question, in: first.trouble) }
        let rest = first.begin - question.time
        // The request may have been executed just before the server went down.
        let isExecuted = draw(10, question).unit < 0.5
        let end = ServerReply.End.failure(.connectionReset, wasSent: true)
        return ServerReply(delay: rest, end: end, executedAfter: isExecuted ? rest : nil)
    }
}

// MARK: - Late execution

extension WorldServers {
    /// Returns the result of a request that the server has read but does not respond to.
    ///
    /// The server executes the request when it resumes, but the client receives no response.
    private func silence(of question: ServerQuestion, in trouble: Trouble) -> ServerReply {
        var execution = lateness(of: question)
        if let end = trouble.window?.end, end.isFinite { execution = max(0, end - question.time) + roundTrip }
        return ServerReply(delay: .infinity, end: .silence(isConnected: true), executedAfter: execution)
    }

    /// Returns the time from the request to its execution if the response has this status, or `nil` if the server never
    /// executes it.
    ///
    /// A failing server can return an error after it has executed the request. A server behind a gateway can execute
    /// the request after the gateway has returned an error.
    private func execution(of question: ServerQuestion, answering status: Int, _ latency: Double) -> Double? {
        switch status {
        case 502, 504: lateness(of: question)
        case 500: draw(11, question).unit < 0.5 ? latency : nil
        case 400...: nil
        default: latency
        }
    }

    /// Returns the seconds after which a server executes a request that its client no longer waits for.
    private func lateness(of question: ServerQuestion) -> Double { draw(9, question).number(0.05...30) }
}

// MARK: - Random draws

extension WorldServers {
    /// The round-trip time of the network.
    private var roundTrip: Double { world.latency.median / 10 }

    private func draw(_ salt: UInt64, _ question: ServerQuestion) -> WorldDraw {
        WorldDraw(world.number, salt).of(question.call).of(question.server)
    }

    private func usualLatency(_ question: ServerQuestion) -> Double {
        let (one, other) = (draw(1, question).unit, draw(2, question).unit)
        // The Box-Muller transform yields a normal distribution.
        let normal = (-2 * log(1 - one)).squareRoot() * cos(2 * .pi * other)
        return world.latency.median * exp(world.latency.spread * normal)
    }

    private func slowness(_ question: ServerQuestion) -> Double {
        world.troubles.reduce(0) { sum, trouble in
            guard case .slow(let time) = trouble.fault, strikes(trouble, question) else { return sum }
            return sum + time * draw(trouble.salt &+ 1, question).number(0.5...1.5)
        }
    }

    /// Returns whether a fault affects a request.
    private func strikes(_ trouble: Trouble, _ question: ServerQuestion) -> Bool {
        guard trouble.concerns(server: question.server, endpoint: question.endpoint),
            trouble.isActive(at: question.time)
        else { return false }
        guard trouble.share < 1 else { return true }
        let call = WorldDraw(world.number, trouble.salt).of(question.call)
        return (trouble.isOfCall ? call : call.of(question.server)).unit < trouble.share
    }
}

extension Trouble.Fault {
    /// Whether the responses to requests in progress are lost when the fault starts.
    fileprivate var endsExchanges: Bool { self == .refused || self == .hang || self == .blackHole }
}
