import Testing

@testable import SwitchyardBenchmarks

@Suite struct HarmWorldTests {
    @Test func `every scenario of the harm benchmark has a different name`() {
        #expect(Set(HarmWorld.all.map(\.name)).count == HarmWorld.all.count)
    }

    @Test func `a name that ends with a dash selects all scenarios whose names start with that name`() throws {
        #expect(try HarmWorld.chosen([]).count == HarmWorld.all.count)
        #expect(try HarmWorld.chosen(["odd-500"]).map(\.name) == ["odd-500"])
        #expect(try HarmWorld.chosen(["kept-", "odd-429"]).count == 4)
    }

    @Test(arguments: ["odd", "odd-500-firs", "conditions-rain-"])
    func `the harm benchmark rejects the name of an unknown scenario`(_ name: String) {
        #expect(throws: BenchmarkError.self) { try HarmWorld.chosen([name]) }
    }

    @Test func `the harm benchmark has each kind of misbehavior on all servers and on only the first server`() {
        let names = Set(HarmWorld.all.map(\.name))

        for oddity in Oddity.all {
            #expect(names.isSuperset(of: ["odd-\(oddity.name)", "odd-\(oddity.name)-first"]))
        }
    }

    @Test func `the name of a benchmark scenario determines how many callers use the misbehaving endpoint`() throws {
        let callers = try ["odd-500", "odd-500-share5", "odd-500-share80", "odd-500-callers2", "odd-500-callers300"]
            .flatMap { try HarmWorld.chosen([$0]) }
            .map { [$0.oddCallers, $0.callers] }

        #expect(callers == [[4, 20], [1, 20], [16, 20], [1, 2], [60, 300]])
    }

    @Test func `if only the first server of a benchmark scenario responds with 500, no repeatable call may fail`()
        throws
    {
        let failsNone = try ["odd-500-first", "odd-500-first-keyed", "odd-500-first-write", "odd-404-first", "odd-500"]
            .flatMap { try HarmWorld.chosen([$0]) }
            .map(\.limits.failsNone)

        #expect(failsNone == [true, true, false, false, false])
    }
}
