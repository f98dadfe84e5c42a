import Testing

@testable import yard

@Suite struct SimulatedServerTests {
    private let steady = CapacityProfile([.init(start: 0, rate: 10)])

    private func isAnswer(_ reply: SimulatedServer.Reply, at time: Double) -> Bool {
        guard case .answer(let answered) = reply else { return false }
        return abs(answered - time) < 1e-6
    }

    @Test func `a request to a simulated server waits until earlier requests are processed`() {
        var server = SimulatedServer(capacity: steady, model: .deep)

        let first = server.take(cost: 3, at: 1, until: 9).reply
        let second = server.take(cost: 1, at: 1, until: 9).reply

        #expect(isAnswer(first, at: 1 + SimulatedServer.serviceTime))
        #expect(isAnswer(second, at: 1.3 + SimulatedServer.serviceTime))
    }

    @Test func `an idle simulated server does not accumulate capacity for later`() {
        var server = SimulatedServer(capacity: steady, model: .deep)

        _ = server.take(cost: 3, at: 1, until: 9)
        let late = server.take(cost: 1, at: 5, until: 9).reply

        #expect(isAnswer(late, at: 5 + SimulatedServer.serviceTime))
    }

    @Test(arguments: [(ServerModel.deep, 30), (.aware, 15)])
    func `a simulated server whose queue is too long rejects a request`(model: ServerModel, expected: Int) {
        var server = SimulatedServer(capacity: steady, model: model)

        let taken = (0..<100).prefix { _ in
            if case .answer = server.take(cost: 1, at: 1, until: 99).reply { true } else { false }
        }

        #expect(taken.count == expected)
    }

    @Test func `only a simulated server of the model .aware drops requests that cannot meet their deadline`() {
        var deep = SimulatedServer(capacity: steady, model: .deep)
        var aware = SimulatedServer(capacity: steady, model: .aware)
        for _ in 0..<10 {
            _ = deep.take(cost: 1, at: 1, until: 9)
            _ = aware.take(cost: 1, at: 1, until: 9)
        }

        #expect(isAnswer(deep.take(cost: 1, at: 1, until: 1.5).reply, at: 2 + SimulatedServer.serviceTime))
        #expect(aware.take(cost: 1, at: 1, until: 1.5).reply == .silence)
        #expect(aware.backlog(at: 1) < deep.backlog(at: 1))
    }

    @Test func `only a simulated server of the model .aware drops waiting requests that were cancelled`() {
        for (model, remaining) in [(ServerModel.deep, 20.0), (.aware, 10.0)] {
            var server = SimulatedServer(capacity: steady, model: model)
            let served = server.take(cost: 10, at: 1, until: 9)
            let waiting = server.take(cost: 10, at: 1, until: 9)

            server.drop(cost: 10, place: served.place, at: 1)
            server.drop(cost: 10, place: waiting.place, at: 1)

            #expect(abs(server.backlog(at: 1) - remaining) < 1e-9)
        }
    }

    @Test func `a simulated server that dies refuses new requests and resets unfinished requests`() {
        let outage = SimulatedServer.Outage(refuses: true, span: 2..<4)
        var server = SimulatedServer(capacity: steady, outage: outage, model: .deep)

        #expect(isAnswer(server.take(cost: 1, at: 1.99, until: 9).reply, at: 1.99 + SimulatedServer.serviceTime))
        #expect(server.take(cost: 1, at: 1.99, until: 9).reply == .reset(at: 2))
        #expect(server.take(cost: 1, at: 2, until: 9).reply == .refusal(at: 2 + SimulatedServer.serviceTime))
        #expect(isAnswer(server.take(cost: 1, at: 4, until: 9).reply, at: 4 + SimulatedServer.serviceTime))
    }

    @Test func `a simulated server that hangs does not respond`() {
        let outage = SimulatedServer.Outage(refuses: false, span: 2..<4)
        var server = SimulatedServer(capacity: steady, outage: outage, model: .deep)

        _ = server.take(cost: 1, at: 1.99, until: 9)

        #expect(server.take(cost: 1, at: 1.99, until: 9).reply == .silence)
        #expect(server.take(cost: 1, at: 3, until: 9).reply == .silence)
    }
}
