import Testing

@testable import yard

@Suite struct WorldShrinkerTests {
    @Test func `reducing a failing simulated World removes every part that the failure does not need`() throws {
        let world = World.sample(
            servers: 4,
            [Trouble(.hang, server: 2), Trouble(.reset, endpoint: 1), Trouble(.truncated, server: 3)],
            kinds: [.read, .write, .replacement]
        )
        let shrinker = WorldShrinker { $0.traffic.calls >= 7 && $0.troubles.contains { $0.fault == .reset } }

        let small = try shrinker.smallest(of: world)

        #expect(small.servers == 1)
        #expect(small.troubles.map(\.fault) == [.reset])
        #expect(small.endpoints.count == 1)
        #expect(small.traffic.calls == 7)
    }

    @Test func `servers in a simulated World keep their own faults when other servers are removed`() throws {
        let world = World.sample(servers: 4, [Trouble(.hang, server: 2, endpoint: 1)], kinds: [.read, .write])
        let shrinker = WorldShrinker { world in
            world.troubles.first?.server.map { $0 < world.servers && $0 > 0 } ?? false
        }

        let small = try shrinker.smallest(of: world)

        #expect(small.servers == 2)
        #expect(small.troubles.map(\.server) == [1])
    }

    @Test func `a simulated World that cannot be reduced further is returned unchanged`() throws {
        let world = World.sample(servers: 1)

        #expect(try WorldShrinker { $0 == world }.smallest(of: world) == world)
    }

    @Test func `the number of attempts to reduce a simulated World is limited`() throws {
        var tries = 0
        let shrinker = WorldShrinker { _ in
            tries += 1
            return false
        }

        _ = try shrinker.smallest(of: World(number: 3))

        #expect(tries <= WorldShrinker.mostTries)
    }
}
