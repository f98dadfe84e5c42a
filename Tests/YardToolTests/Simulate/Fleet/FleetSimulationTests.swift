import Foundation
import Switchyard
import SwitchyardFixtures
import Testing

@testable import yard

@Suite struct FleetSimulationTests {
    /// The number of clients in simulations of a single failure.
    private static let clients = Rounds.count(200, thorough: 300)

    private func report(_ plan: FleetPlan) throws -> FleetReport {
        var simulation = try FleetSimulation(plan)
        simulation.run()
        return FleetReport(of: simulation, wallSeconds: 0)
    }

    @Test(arguments: FleetScenario.allCases, [ServerModel.deep, .aware])
    func `every request of a simulated fleet ends exactly once`(scenario: FleetScenario, model: ServerModel) throws {
        let clients = Rounds.count(30, thorough: 60)
        var simulation = try FleetSimulation(FleetPlan(clients: clients, scenario: scenario, model: model))

        simulation.run()

        #expect(simulation.tally.requests > 1000)
        #expect(simulation.tally.ended == simulation.tally.requests)
        #expect(simulation.freeRequests.count == simulation.requests.count)
        #expect(simulation.freeProbes.count == simulation.probes.count)
        #expect(simulation.clients.newestRequest.allSatisfy { $0 == FleetClients.noRequest })
    }

    @Test func `two fleet simulations with the same seed give the same report`() throws {
        let plan = FleetPlan(clients: 80, scenario: .brownout, seed: 11)

        #expect(try report(plan).json() == report(plan).json())
    }

    @Test func `the timeline of a fleet has every time step and can be decoded from its JSON`() throws {
        var simulation = try FleetSimulation(FleetPlan(clients: 80, scenario: .deathShort))
        simulation.run()
        var report = FleetReport(of: simulation, wallSeconds: 0)
        let timeline = FleetTimeline(of: simulation)
        report.timeline = timeline.steps

        let read = try JSONDecoder().decode(FleetReport.self, from: Data(try report.json().utf8))

        #expect(read == report)
        #expect(timeline.steps.map(\.second) == Array(stride(from: 0, to: Int(FleetScenario.duration), by: 10)))
        #expect(timeline.steps.allSatisfy { $0.loads.count == report.servers.count })
        #expect(timeline.table.split(separator: "\n").count == timeline.steps.count + 1)
        #expect(timeline.steps.contains { $0.failPercent > 0 } == (report.failures > 0))
    }

    @Test func `fleet simulations with different seeds have different requests`() throws {
        let first = try report(FleetPlan(clients: 80, seed: 1))
        let second = try report(FleetPlan(clients: 80, seed: 2))

        #expect(first.requests != second.requests)
    }

    @Test(arguments: [FleetScenario.deathAmple, .hang])
    func `the recommended policy prevents failed calls when a server is lost`(scenario: FleetScenario) throws {
        let report = try report(FleetPlan(clients: 600, scenario: scenario, isWarm: true))

        #expect(report.failures == 0)
        #expect(report.servers[1].peakLoad < 1)
        #expect(report.attemptsPerRequest < 1.5)
    }

    @Test(arguments: FleetScenario.allCases, ServerModel.allCases)
    func `with the recommended policy, no more requests fail than without switching`(
        scenario: FleetScenario,
        model: ServerModel
    ) throws {
        let clients = Rounds.count(60, thorough: 600)
        let recommended = try report(FleetPlan(clients: clients, scenario: scenario, model: model))
        let off = try report(FleetPlan(clients: clients, scenario: scenario, policy: .off, model: model))

        #expect(recommended.failures <= off.failures)
    }

    @Test func `most clients of a server that dies switch to another server and later back`() throws {
        let report = try report(FleetPlan(clients: Self.clients, scenario: .deathAmple))

        #expect(report.switchesPerClient.mean > 1)
        #expect(report.switchesPerClient.max <= 6)
    }

    @Test(arguments: [FleetScenario.deathAmple, .hang])
    func `without switching, requests fail until the server runs again and is warm`(scenario: FleetScenario) throws {
        let report = try report(FleetPlan(clients: Self.clients, scenario: scenario, policy: .off))

        #expect((29...50).contains(report.failPercent))
        #expect(report.switchesPerClient.max == 0)
    }

    @Test func `clients without a network do not count their failures against a server`() throws {
        let report = try report(FleetPlan(clients: Self.clients, scenario: .network30))

        #expect((3.0...6.0).contains(report.failPercent))
        #expect(report.switchesPerClient.mean < 0.05)
    }

    @Test func `a fallback server that is warm reduces the peak load of the second server`() throws {
        var policy = SwitchPolicy.recommended
        policy.warmUp = nil
        let cold = try report(FleetPlan(clients: Self.clients, scenario: .deathAmple, policy: policy))
        let warm = try report(FleetPlan(clients: Self.clients, scenario: .deathAmple, policy: policy, isWarm: true))

        #expect(warm.servers[1].peakLoad < cold.servers[1].peakLoad)
    }

    @Test(arguments: ServerModel.allCases)
    func `a fleet that chooses within the latency window uses all servers`(model: ServerModel) throws {
        var policy = SwitchPolicy.off
        policy.selection = .lowestLatency
        let clients = Rounds.count(200, thorough: 600)
        var simulation = try FleetSimulation(FleetPlan(clients: clients, scenario: .herd, policy: policy, model: model))

        simulation.run()

        #expect(simulation.tally.failures == 0)
        #expect(FleetTimeline(of: simulation).steps.flatMap(\.loads).allSatisfy { $0.map { $0 < 1 } ?? false })
    }

    @Test func `the table and the JSON of a fleet show the same number of requests`() throws {
        let report = try report(FleetPlan(clients: 50))

        #expect(report.table.contains("\(report.requests)"))
        #expect(try report.json().contains("\"requests\":\(report.requests)"))
    }
}
