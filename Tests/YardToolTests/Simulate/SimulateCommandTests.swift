import Foundation
import Switchyard
import SwitchyardInspector
import Testing

@testable import yard

@Suite struct SimulateCommandTests {
    private func command(_ words: String...) throws -> SimulateCommand {
        try SimulateCommand(Arguments(words, options: SimulateCommand.options))
    }

    @Test func `every option of the simulate command is parsed`() throws {
        let command = try command(
            "--clients",
            "5",
            "--scenario",
            "network30",
            "--policy",
            "published",
            "--server-model",
            "aware",
            "--warm",
            "--seed",
            "9",
            "--json"
        )

        #expect(command.plan.clients == 5)
        #expect(command.plan.scenario == .network30)
        #expect(command.plan.policy.name == "published")
        #expect(command.plan.model == .aware)
        #expect(command.plan.isWarm)
        #expect(command.plan.seed == 9)
        #expect(command.printsJSON)
    }

    @Test func `a simulation with JSON and timeline prints one JSON object and nothing else`() throws {
        let command = try command("--clients", "20", "--timeline", "--json")
        var simulation = try FleetSimulation(command.plan)
        simulation.run()

        let off = try SimulateCommand.withoutSwitching(command.plan)
        let text = try command.text(of: simulation, withoutSwitching: off, wallSeconds: 0)

        let report = try JSONDecoder().decode(FleetReport.self, from: Data(text.utf8))
        #expect(report.timeline == FleetTimeline(of: simulation).steps)
    }

    @Test func `in the table of a simulation, the timeline follows the report and the verdict is last`() throws {
        let command = try command("--clients", "20", "--timeline")
        var simulation = try FleetSimulation(command.plan)
        simulation.run()
        let off = try SimulateCommand.withoutSwitching(command.plan)
        let report = FleetReport(of: simulation, withoutSwitching: off, wallSeconds: 0)

        let text = try command.text(of: simulation, withoutSwitching: off, wallSeconds: 0)

        let verdict = FleetSummary(simulation, withoutSwitching: off).verdict.text
        #expect(text == "\(report.table)\n\(FleetTimeline(of: simulation).table)\n\(verdict)\n")
    }

    @Test func `the text of a simulation states only once how many requests would fail without switching`() throws {
        let command = try command("--clients", "20")
        var simulation = try FleetSimulation(command.plan)
        var single = try FleetSimulation(FleetPlan(clients: 20, policy: .off))
        simulation.run()
        single.run()

        let off = try SimulateCommand.withoutSwitching(command.plan)
        let text = try command.text(of: simulation, withoutSwitching: off, wallSeconds: 0)

        #expect(text.ranges(of: "ithout switching").count == 1)
        #expect(text.contains("Without switching, \(single.tally.failures.figure) of these requests would have failed"))
    }

    @Test(arguments: [
        ["--clients", "0"], ["--clients", "many"], ["--clients", "999999999999"], ["--seed", "-1"],
        ["--scenario", "sunshine"], ["--policy", "best"], ["--server-model", "shallow"], ["--rate", "1"], ["extra"],
    ])
    func `invalid options of the simulate command are rejected in one line`(words: [String]) {
        let error = #expect(throws: UsageError.self) {
            _ = try SimulateCommand(Arguments(words, options: SimulateCommand.options))
        }

        #expect(error?.description.contains("\n") == false)
    }
}
