import Switchyard
import Testing

@testable import yard

@Suite struct WorldPlayTests {
    private func play(_ world: World) throws -> PlayedWorld {
        try WorldPlay.play(world, policy: .recommended)
    }

    @Test func `a simulated World with a given number always has the same content and the same results`() throws {
        let played = try [16, 16].map { try play(World(number: $0)) }

        #expect(World(number: 16) == World(number: 16))
        #expect("\(played[0].calls)" == "\(played[1].calls)")
        #expect(played[0].record.shadows == played[1].record.shadows)
    }

    @Test func `simulated Worlds with adjacent numbers are different`() {
        let worlds = (1...200).map { World(number: $0) }

        #expect(Set(worlds.map(\.latency.median)).count == 200)
        #expect(Set(worlds.flatMap(\.endpoints).map(\.weight)).count == worlds.reduce(0) { $0 + $1.endpoints.count })
        #expect(Set(worlds.flatMap(\.troubles).map(\.salt)).count == worlds.reduce(0) { $0 + $1.troubles.count })
    }

    @Test func `every call in a simulated World without faults costs one request and succeeds`() throws {
        let played = try play(.sample(kinds: CallKind.allCases))

        #expect(played.calls.count == 100)
        #expect(played.calls.allSatisfy { $0.outcome == .answered(200) && $0.sendings.count == 1 })
        #expect(played.switches == 0)
        #expect(Law.violations(in: played).isEmpty)
    }

    @Test func `simulated reads move to the other server when the first server dies, and return later`() throws {
        let outage = Trouble(.refused, server: 0, window: .init(2, 6))
        var world = World.sample([outage])
        world.traffic.calls = 400

        let played = try play(world)

        #expect(played.calls.allSatisfy { $0.outcome == .answered(200) })
        #expect(played.calls.count { $0.byFirst.status == nil } > 20)
        #expect(played.switches == 2)
        #expect(played.calls.last?.sendings.map(\.server) == [0])
    }

    @Test func `a write that a silent server executes late is reported as possibly executed and undoes no later write`()
        throws
    {
        let world = World.sample([Trouble(.hang, server: 0, window: .init(2, 6))], kinds: [.replacement])
        for policy in [SwitchPolicy.recommended, .off] {
            let played = try WorldPlay.play(world, policy: policy)

            let late = played.calls.filter { call in
                call.sendings.contains { ($0.executionTime ?? 0) > call.endTime + 0.01 }
            }
            #expect(!late.isEmpty)
            #expect(late.allSatisfy { $0.mayHaveBeenExecuted && $0.sendings.count == 1 })
            #expect(Law.violations(in: played).isEmpty)
        }
    }

    @Test func `a simulated World counts probes and suspicion probes separately from calls`() throws {
        let played = try play(.sample([Trouble(.refused, server: 0, window: .init(2, 6))]))

        #expect(played.record.shadows > 0)
        #expect(played.record.writtenShadows == 0)
        #expect(played.record.requests == played.calls.reduce(0) { $0 + $1.sendings.count })
    }

    @Test func `a simulated call is compared with the response that a single server would give`() throws {
        let outage = Trouble(.hang, server: 0, window: .init(2, 6))

        let played = try play(.sample([outage]))

        for call in played.calls {
            let isOut = (1.99..<6).contains(call.time)
            #expect(call.byFirst.status == (isOut ? nil : 200))
            #expect(call.byFirst.server == 0)
        }
        #expect(Set(played.calls.map(\.byCurrent.server)) == [0, 1])
    }

    @Test(arguments: World.Endpoint.Shape.allCases)
    func `with server roles, the reference results of a simulated call come only from servers that serve it`(
        shape: World.Endpoint.Shape
    ) throws {
        var world = World.sample(kinds: [.read])
        world.endpoints[0].shape = shape
        world.arrangement = .sample([.endpoints([0]), .everything])

        let played = try play(world)

        #expect(played.calls.allSatisfy { $0.byFirst.server == 0 && $0.byCurrent.server == 0 })
    }

    @Test func `simulated calls with an open arrival rate start in bursts`() throws {
        var traffic = Traffic.sample
        traffic.arrival = .open(rate: 20, burst: 5)

        let played = try play(.sample(traffic: traffic))

        #expect(Set(played.calls.map(\.time)).count == 20)
    }

    @Test func `every simulated call ends even if no server responds`() throws {
        let played = try play(.sample([Trouble(.blackHole)], kinds: CallKind.allCases))

        #expect(played.calls.allSatisfy { $0.outcome != nil && $0.endTime <= $0.time + 2.001 })
    }
}
