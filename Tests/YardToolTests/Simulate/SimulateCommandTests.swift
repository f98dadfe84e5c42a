import Switchyard
import Testing

@testable import yard

@Suite struct SimulateCommandTests {
    private func command(_ words: String...) throws -> SimulateCommand {
        try SimulateCommand(Arguments(words, options: SimulateCommand.options))
    }

    @Test func `every option is understood`() throws {
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

    @Test(arguments: [
        ["--clients", "0"], ["--clients", "many"], ["--clients", "999999999999"], ["--seed", "-1"],
        ["--scenario", "sunshine"], ["--policy", "best"], ["--server-model", "shallow"], ["--rate", "1"], ["extra"],
    ])
    func `what makes no sense is refused in one line`(words: [String]) {
        let error = #expect(throws: UsageError.self) {
            _ = try SimulateCommand(Arguments(words, options: SimulateCommand.options))
        }

        #expect(error?.description.contains("\n") == false)
    }
}
