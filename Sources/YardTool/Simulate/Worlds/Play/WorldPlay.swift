import Foundation
import Switchyard

/// A run of a world (a random scenario, ``World``) through a real client, in virtual time and on one thread.
final class WorldPlay: Sendable {
    private struct State {
        var calls: [PlayedCall] = []
        var ended = 0
        var current = 0
        var switches = 0
        /// The servers for a client that sends each call once, to the first server.
        ///
        /// `preferred` has the servers for a client that sends each call once, to the server that is preferred at that
        /// time.
        var first: WorldServers
        var preferred: WorldServers
    }

    private let world: World
    private let clock = WorldClock()
    private let transport: WorldTransport
    private let client: NetworkClient
    private let names: [String]
    private let requests: [APIConfiguration]
    private let state: Locked<State>

    init(_ world: World, policy: SwitchPolicy) throws {
        self.world = world
        let names = (0..<world.servers).map { "s\($0)" }
        self.names = names
        transport = WorldTransport(world, clock: clock)
        let servers = try names.indices.map { index in
            try world.server(index, named: names[index])
        }
        let service = try Service(name: "world", servers: servers, defaultEnvironment: .release, switching: policy)
        var options = NetworkClient.Options(seed: world.number)
        options.preferredZone = world.arrangement?.preferredZone
        client = try NetworkClient(service: service, transport: transport, options: options, time: clock)
        requests = world.endpoints.indices.map { world.request(to: $0) }
        let references = WorldServers(world)
        state = Locked(State(first: references, preferred: references))
    }

    /// Runs the world until its last call has ended.
    static func play(_ world: World, policy: SwitchPolicy) throws -> PlayedWorld {
        let play = try WorldPlay(world, policy: policy)
        play.begin()
        while play.state.withLock({ $0.ended < world.traffic.calls }), play.clock.step() { play.recordServer() }
        return play.end()
    }

    private func begin() {
        let current = names.firstIndex(of: client.currentServer) ?? 0
        state.withLock { $0.current = current }
        switch world.traffic.arrival {
        case .open: scheduleArrival(0)
        case .closed(let callers, let pause):
            for caller in 0..<min(callers, world.traffic.calls) {
                let start = draw(3, caller).unit * min(pause, 0.1)
                _ = clock.schedule(at: MonotonicTime(seconds: start)) { [self] in call() }
            }
        }
    }

    private func end() -> PlayedWorld {
        clock.stop()
        client.shutdown()
        let record = transport.record
        return state.withLock { state in
            for index in state.calls.indices { state.calls[index].sendings = record.sendings[index] }
            return PlayedWorld(world: world, calls: state.calls, record: record, switches: state.switches)
        }
    }

    private func draw(_ salt: UInt64, _ number: Int) -> WorldDraw { WorldDraw(world.number, salt).of(number) }
}

// MARK: - Calls

extension WorldPlay {
    /// Schedules the next burst of calls if calls are made at random times (`Traffic.Arrival.open`).
    private func scheduleArrival(_ number: Int) {
        guard case .open(let rate, let burst) = world.traffic.arrival, number < world.traffic.calls else { return }
        let gap = -log(1 - draw(4, number).unit) * Double(burst) / rate
        _ = clock.schedule(at: clock.now.advanced(bySeconds: gap)) { [self] in
            for _ in 0..<burst { call() }
            scheduleArrival(number + burst)
        }
    }

    /// Schedules the next call of a simulated caller that waits for each response (`Traffic.Arrival.closed`).
    private func goOn() {
        guard case .closed(_, let pause) = world.traffic.arrival else { return }
        let number = state.withLock { $0.ended }
        let wait = pause * draw(5, number).number(0.5...1.5)
        _ = clock.schedule(at: clock.now.advanced(bySeconds: wait)) { [self] in call() }
    }

    /// Makes the next call, if there is another call to make.
    ///
    /// The call is compared with clients without switching. If servers share the traffic, these clients send the call
    /// to the server to which the real client first sent it.
    private func call() {
        guard let next = addCall() else { return }
        let request = world.request(for: next, like: requests[next.endpoint])
        let preferred = names.firstIndex(of: client.preferredServer(for: request)) ?? 0
        let isShared = world.arrangement?.hasGroups == true
        if !isShared { compare(next, first: world.firstServer(of: next.endpoint), preferred: preferred) }
        client.dispatch(request) { [self] result in
            ended(next.number, result)
        }
        guard isShared else { return }
        let server = transport.firstServer(of: next.number) ?? preferred
        compare(next, first: server, preferred: server)
    }

    private func addCall() -> PlayedCall? {
        let now = clock.now.seconds
        return state.withLock { state in
            let number = state.calls.count
            guard number < world.traffic.calls else { return nil }
            let endpoint = world.endpoint(of: draw(6, number).unit)
            let call = PlayedCall(
                number: number,
                kind: world.endpoints[endpoint].kind,
                endpoint: endpoint,
                priority: world.priority(draw(8, number).unit),
                time: now,
                deadline: world.deadline(draw(7, number).unit),
                byFirst: .none,
                byCurrent: .none
            )
            state.calls.append(call)
            return call
        }
    }

    /// Records the results that a call would have had at the first server and at the server preferred at that time.
    private func compare(_ call: PlayedCall, first: Int, preferred: Int) {
        var question = ServerQuestion(call: call.number, endpoint: call.endpoint, server: first, time: call.time)
        state.withLock { state in
            let reply = state.first.reply(to: question)
            state.calls[call.number].byFirst = .init(reply, server: first, within: call.deadline)
            question.server = preferred
            let other = state.preferred.reply(to: question)
            state.calls[call.number].byCurrent = .init(other, server: preferred, within: call.deadline)
        }
    }

    private func ended(_ number: Int, _ result: Result<ServiceResponse, RequestFailure>) {
        state.withLock { state in
            state.ended += 1
            state.calls[number].endTime = clock.now.seconds
            state.calls[number].mayHaveBeenExecuted = result.mayHaveBeenExecuted
            state.calls[number].outcome =
                switch result {
                case .success(let answer): .answered(answer.status)
                case .failure(let failure): .failed(failure.reason)
                }
        }
        goOn()
    }

    /// Counts a change of the preferred server.
    private func recordServer() {
        let current = names.firstIndex(of: client.currentServer) ?? 0
        state.withLock { state in
            if current != state.current { state.switches += 1 }
            state.current = current
        }
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    /// Whether the result of the call reports that the call may have been executed, without a response that confirms
    /// it.
    fileprivate var mayHaveBeenExecuted: Bool {
        switch self {
        case .success(let answer): answer.context.mayHaveBeenExecuted
        case .failure(let failure): failure.mayHaveBeenExecuted
        }
    }
}

extension PlayedCall.Reference {
    /// The result for a client without switching if the call is not sent.
    fileprivate static let none = Self(
        server: 0,
        reply: ServerReply(delay: .infinity, end: .silence(isConnected: false)),
        status: nil
    )

    fileprivate init(_ reply: ServerReply, server: Int, within deadline: Double) {
        self.init(server: server, reply: reply, status: reply.status(within: deadline))
    }
}

// MARK: - Requests

extension World {
    /// Creates the `Server` of the service that stands for the simulated server with this index.
    fileprivate func server(_ index: Int, named name: String) throws -> Server {
        var server = Server(name: name, baseURLs: [.release: try ServerURL(WorldTransport.address(of: index))])
        guard let arrangement else { return server }
        server.weight = arrangement.weights[index]
        server.serves = arrangement.served(by: index)
        server.priority = arrangement.priorities?[index]
        server.zone = arrangement.zones[index]
        return server
    }

    /// Returns the first server in order of preference that serves an endpoint.
    fileprivate func firstServer(of endpoint: Int) -> Int {
        guard let arrangement else { return 0 }
        let order = (0..<servers).sorted { left, right in
            let (one, other) = (arrangement.rank(of: left) + [left], arrangement.rank(of: right) + [right])
            return one.lexicographicallyPrecedes(other)
        }
        let method = endpoints[endpoint].kind.method
        return order.first { arrangement.isServed(endpoint, method, by: $0) } ?? 0
    }

    /// Returns the configuration that all calls of an endpoint share.
    fileprivate func request(to endpoint: Int) -> APIConfiguration {
        let path = WorldTransport.path(of: endpoint)
        let isTemplate = endpoints[endpoint].shape == .template
        return APIConfiguration(
            path: isTemplate ? path + "/{number}" : path,
            method: endpoints[endpoint].kind.method
        )
    }

    fileprivate func request(for call: PlayedCall, like common: APIConfiguration) -> APIConfiguration {
        var request = common
        request.headers.set(WorldTransport.callField, "\(call.number)")
        request.timeout = .seconds(call.deadline)
        request.priority = call.priority
        if call.kind == .keyedWrite { request.idempotencyKey = .given("k\(call.number)") }
        switch endpoints[call.endpoint].shape {
        case .plain: break
        case .numbered: request.path += "/\(call.number)"
        case .template: request.pathValues = ["number": call.number]
        }
        return request
    }

    fileprivate func endpoint(of draw: Double) -> Int {
        var rest = draw * endpoints.reduce(0) { $0 + $1.weight }
        for (index, endpoint) in endpoints.enumerated() {
            rest -= endpoint.weight
            if rest < 0 { return index }
        }
        return endpoints.count - 1
    }

    /// Returns a deadline in seconds, rounded to milliseconds.
    fileprivate func deadline(_ draw: Double) -> Double {
        let range = traffic.deadlines
        return ((range.lowerBound + draw * (range.upperBound - range.lowerBound)) * 1000).rounded() / 1000
    }

    fileprivate func priority(_ draw: Double) -> RequestPriority {
        if draw < traffic.lowShare { return .low }
        return draw > 1 - traffic.highShare ? .high : .normal
    }
}
