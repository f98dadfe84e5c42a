import Foundation
import Switchyard

/// A transport that passes the requests of a client to the simulated servers of a world (a random scenario), in virtual
/// time.
///
/// Every completion handler is called from the clock or from a cancellation, never within `start`.
final class WorldTransport: Transport {
    /// The header field that contains the call's index in the world.
    static let callField = "X-Call"
    /// Returns the address of the server with this index.
    static func address(of server: Int) -> String { "https://s\(server).world" }
    /// Returns the path of the endpoint with this index.
    static func path(of endpoint: Int) -> String { "e\(endpoint)" }

    private struct State {
        var servers: WorldServers
        var record: TrafficRecord
        var shadows = 0
    }

    private let arrangement: Arrangement?
    private let clock: WorldClock
    private let state: Locked<State>

    init(_ world: World, clock: WorldClock) {
        self.clock = clock
        arrangement = world.arrangement
        state = Locked(State(servers: WorldServers(world), record: TrafficRecord(calls: world.traffic.calls)))
    }

    /// The requests that have been sent so far.
    var record: TrafficRecord { state.withLock { $0.record } }

    /// Returns the server that got the first request of a call, or `nil` if no request was sent.
    func firstServer(of call: Int) -> Int? { state.withLock { $0.record.sendings[call].first?.server } }

    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let now = clock.now
        let (place, reply) = state.withLock { state in
            let request = PlacedRequest(request, shadow: state.shadows)
            if request.isShadow { state.shadows += 1 }
            let question = ServerQuestion(
                call: request.call,
                endpoint: request.endpoint,
                server: request.server,
                time: now.seconds
            )
            let reply = state.servers.reply(to: question)
            if arrangement?.isServed(request.namedEndpoint, request.method, by: request.server) == false {
                state.record.addUnsuitable()
            }
            let place = state.record.add(request, at: now.seconds, executedAfter: reply.executedAfter)
            return (place, reply)
        }
        let exchange = WorldExchange(completion) { [self] end in
            state.withLock { $0.record.end(place, end, at: clock.now.seconds) }
        }
        let end = WorldExchange.End(reply, within: request.timeouts)
        if let end { exchange.set(clock.schedule(at: now.advanced(bySeconds: end.delay)) { exchange.end(end) }) }
        return exchange
    }

    func shutdown() {}
}

/// A request with the properties that determine the reply of a simulated server.
struct PlacedRequest: Sendable {
    /// The index of the call, or a negative number for a shadow request, whose response no call receives.
    var call: Int
    var server: Int
    var endpoint: Int
    /// The endpoint, or `nil` for a request for the base URL.
    var namedEndpoint: Int?
    var method: HTTPMethod
    /// Whether the request is a shadow request, whose response no call receives: a probe, a suspicion probe
    /// (``SuspicionProbe``), or a warm-up request.
    var isShadow: Bool

    /// Reads these properties from a request that the client sends.
    ///
    /// A request with a total timeout is a shadow request.
    fileprivate init(_ request: HTTPRequest, shadow: Int) {
        let text = request.url.text
        server = Self.digit(text, at: Self.placeOfServer) ?? 0
        namedEndpoint = Self.digit(text, at: Self.placeOfEndpoint)
        endpoint = namedEndpoint ?? 0
        method = request.method
        isShadow = request.timeouts.total != nil
        let call = isShadow ? nil : request.headers[WorldTransport.callField].flatMap { Int($0) }
        self.call = call ?? -1 - shadow
    }

    private static let placeOfServer = "https://s".utf8.count
    private static let placeOfEndpoint = WorldTransport.address(of: 0).utf8.count + "/e".utf8.count

    /// Returns the digit at an offset of the text, or `nil` if there is none.
    private static func digit(_ text: String, at place: Int) -> Int? {
        guard let index = text.utf8.index(text.startIndex, offsetBy: place, limitedBy: text.endIndex),
            index < text.endIndex, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text.utf8[index])
        else { return nil }
        return Int(text.utf8[index] - UInt8(ascii: "0"))
    }
}

// MARK: - Exchanges

/// An exchange of a ``WorldTransport``.
private final class WorldExchange: TransportTask {
    typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

    /// The end of an exchange, and its delay in seconds.
    struct End: Sendable {
        var delay: Double
        var end: ServerReply.End
        var result: Result<HTTPResponse, TransportError>
    }

    private struct State {
        var completion: Completion?
        var timer: (any ScheduledTimer)?
    }

    private let tell: @Sendable (ServerReply.End) -> Void
    private let state: Locked<State>

    init(_ completion: @escaping Completion, telling tell: @escaping @Sendable (ServerReply.End) -> Void) {
        self.tell = tell
        state = Locked(State(completion: completion))
    }

    func set(_ timer: any ScheduledTimer) {
        state.withLock { $0.timer = timer }
    }

    func end(_ end: End) { finish(end.end, end.result) }

    func cancel() {
        let error = TransportError(.cancelled, message: "cancelled by the caller")
        finish(.failure(.cancelled, wasSent: true), .failure(error))
    }

    private func finish(_ end: ServerReply.End, _ result: Result<HTTPResponse, TransportError>) {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        old.timer?.cancel()
        guard let completion = old.completion else { return }
        tell(end)
        completion(result)
    }
}

extension WorldExchange.End {
    /// Computes the end of an exchange from the server's reply and the timeouts of the request.
    ///
    /// The result is `nil` if the exchange never ends.
    init?(_ reply: ServerReply, within timeouts: HTTPRequest.Timeouts) {
        var (limit, kind, wasSent) = (reply.delay, TransportError.Kind.timeout, true)
        if let total = timeouts.total?.inSeconds, total < limit { limit = total }
        if let idle = timeouts.idle?.inSeconds, idle < limit { limit = idle }
        if reply.end == .silence(isConnected: false), let connect = timeouts.connect?.inSeconds, connect < limit {
            (limit, kind, wasSent) = (connect, .connectTimeout, false)
        }
        guard limit < reply.delay else {
            if reply.delay == .infinity { return nil }
            self.init(delay: reply.delay, end: reply.end, result: reply.result)
            return
        }
        let error = TransportError(kind, message: "no response", mayHaveBeenSent: wasSent)
        self.init(delay: limit, end: .failure(kind, wasSent: wasSent), result: .failure(error))
    }
}

extension ServerReply {
    /// The reply as the result of a transport.
    fileprivate var result: Result<HTTPResponse, TransportError> {
        switch end {
        case .answer(let status, let pause):
            let headers: HTTPHeaders = pause.map { ["Retry-After": "\($0)"] } ?? [:]
            return .success(HTTPResponse(status: status, headers: headers))
        case .failure(let kind, let wasSent):
            return .failure(TransportError(kind, message: "simulated failure", mayHaveBeenSent: wasSent))
        case .silence:
            return .failure(TransportError(.timeout, message: "no response"))
        }
    }
}
