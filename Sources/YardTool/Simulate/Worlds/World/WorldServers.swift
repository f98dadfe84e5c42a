import Foundation
import Switchyard

/// What a server does with a request.
struct ServerReply: Sendable, Equatable {
    /// How the exchange ends.
    enum End: Sendable, Equatable {
        /// With a whole answer; it may say after how many seconds to come back.
        case answer(Int, retryAfter: Int?)
        /// With a failure; the request may have been sent, or certainly was not.
        case failure(TransportError.Kind, wasSent: Bool)
        /// Not at all; there may not even be a connection.
        case silence(isConnected: Bool)
    }

    /// How many seconds after the request was sent.
    var delay: Double
    var end: End
    /// How many seconds after the request was sent the server executes it; `nil` where it never does.
    ///
    /// The client plays no part in it: it may have gone by then.
    var executedAfter: Double?
    /// Whether a quota would be used up by now, had all requests of the client reached a server.
    var owesToLosses = false

    /// The status, if it answers within so many seconds.
    func status(within deadline: Double) -> Int? {
        guard delay <= deadline, case .answer(let status, _) = end else { return nil }
        return status
    }
}

/// A request as a server sees it.
struct ServerQuestion: Sendable {
    /// The number of the call, or one of its own for a probe.
    var call: Int
    var endpoint: Int
    var server: Int
    /// When it is sent, in seconds.
    var time: Double
}

/// The servers of a world, as one client meets them: they know what the world says, and count for its quotas.
struct WorldServers: Sendable {
    /// One quota's count of a period.
    private struct Count: Hashable {
        var trouble: Int
        var server: Int
        var period: Int
    }

    private let world: World
    /// The requests that reached a server, and all that were sent.
    private var counts: [Count: Int] = [:]
    private var sent: [Count: Int] = [:]

    init(_ world: World) {
        self.world = world
    }

    /// What becomes of a request, which counts for the quotas from now on.
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

    /// What a fault makes of the answer; `nil` where it lets it pass.
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
            // A load balancer breaks the connection off, and the server behind it goes on.
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

    /// Counts a request wherever it comes to; whether a quota is used up by all that were sent.
    private mutating func countSent(_ question: ServerQuestion) -> Bool {
        var isUsedUp = false
        for (index, trouble) in world.troubles.enumerated() where strikes(trouble, question) {
            guard case .quota(let most, _, _) = trouble.fault, let place = place(of: question, index) else { continue }
            sent[place, default: 0] += 1
            if sent[place, default: 0] > most { isUsedUp = true }
        }
        return isUsedUp
    }

    /// Where a request is counted; `nil` unless the trouble is a quota.
    private func place(of question: ServerQuestion, _ index: Int) -> Count? {
        guard case .quota(_, let period, let isPerServer) = world.troubles[index].fault else { return nil }
        let server = isPerServer ? question.server : 0
        return Count(trouble: index, server: server, period: Int(question.time / period))
    }

    /// What becomes of an answer whose server goes down before it is there; `nil` while none does.
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
        // It may have been executed in the last moment before the end.
        let isExecuted = draw(10, question).unit < 0.5
        let end = ServerReply.End.failure(.connectionReset, wasSent: true)
        return ServerReply(delay: rest, end: end, executedAfter: isExecuted ? rest : nil)
    }
}

// MARK: - Late execution

extension WorldServers {
    /// The reply of a server that has read the request and is silent: it executes the request when it goes on, and nobody
    /// hears of it.
    private func silence(of question: ServerQuestion, in trouble: Trouble) -> ServerReply {
        var execution = lateness(of: question)
        if let end = trouble.window?.end, end.isFinite { execution = max(0, end - question.time) + roundTrip }
        return ServerReply(delay: .infinity, end: .silence(isConnected: true), executedAfter: execution)
    }

    /// When a request is executed that is answered with a status: a server that fails may do so after the deed, and the one
    /// behind a gateway executes it late.
    private func execution(of question: ServerQuestion, answering status: Int, _ latency: Double) -> Double? {
        switch status {
        case 502, 504: lateness(of: question)
        case 500: draw(11, question).unit < 0.5 ? latency : nil
        case 400...: nil
        default: latency
        }
    }

    /// How late a request is executed that its client has given up.
    private func lateness(of question: ServerQuestion) -> Double { draw(9, question).number(0.05...30) }
}

// MARK: - Draws

extension WorldServers {
    /// How long the way there and back takes.
    private var roundTrip: Double { world.latency.median / 10 }

    private func draw(_ salt: UInt64, _ question: ServerQuestion) -> WorldDraw {
        WorldDraw(world.number, salt).of(question.call).of(question.server)
    }

    private func usualLatency(_ question: ServerQuestion) -> Double {
        let (one, other) = (draw(1, question).unit, draw(2, question).unit)
        // Box and Muller's way to a normal distribution.
        let normal = (-2 * log(1 - one)).squareRoot() * cos(2 * .pi * other)
        return world.latency.median * exp(world.latency.spread * normal)
    }

    private func slowness(_ question: ServerQuestion) -> Double {
        world.troubles.reduce(0) { sum, trouble in
            guard case .slow(let time) = trouble.fault, strikes(trouble, question) else { return sum }
            return sum + time * draw(trouble.salt &+ 1, question).number(0.5...1.5)
        }
    }

    /// Whether a trouble strikes a request.
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
    /// Whether answers that are on their way when it begins are lost.
    fileprivate var endsExchanges: Bool { self == .refused || self == .hang || self == .blackHole }
}
