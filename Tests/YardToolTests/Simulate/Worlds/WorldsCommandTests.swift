import Foundation
import Switchyard
import SwitchyardInspector
import Testing

@testable import yard

@Suite struct WorldsCommandTests {
    private func command(_ words: String...) throws -> WorldsCommand {
        try WorldsCommand(Arguments(words, options: WorldsCommand.options))
    }

    @Test func `every option of the worlds command is parsed`() throws {
        let command = try command("--worlds", "5", "--seed", "7", "--policy", "single", "--examples", "3", "--json")

        #expect(command.campaign.numbers == 7...11)
        #expect(command.campaign.policy.name == "single")
        #expect(command.examples == 3)
        #expect(command.printsJSON)
    }

    @Test func `by default, the worlds command plays worlds 1 to 100,000`() throws {
        #expect(try command().campaign.numbers == 1...100_000)
    }

    @Test(arguments: [["--worlds", "0"], ["--seed", "-1"], ["--policy", "best"], ["--examples", "some"], ["extra"]])
    func `invalid options of the worlds command are rejected in one line`(words: [String]) {
        let error = #expect(throws: UsageError.self) {
            _ = try WorldsCommand(Arguments(words, options: WorldsCommand.options))
        }

        #expect(error?.description.contains("\n") == false)
    }

    @Test func `the worlds command says whether each known exception is within its limit`()
        async throws
    {
        let report = try await command("--worlds", "2", "--examples", "0").report()

        #expect(try JSONDecoder().decode(WorldsReport.self, from: Data(report.json().utf8)) == report)
        #expect(report.worlds == 2)
        let limits =
            report.holds ? "No reason exceeds its limit of calls." : "At least one reason exceeds its limit of calls."
        #expect(report.text.hasSuffix(limits))
        let gain = report.answered - report.servedByFirstServer
        let words = "Of \(report.calls.figure) calls, \(gain.figure) more succeeded than with the first server alone; "
        #expect(report.verdict.headline.hasPrefix(words))
    }

    @Test func `the worlds command prints the known exceptions and their limits as an aligned table`() async throws {
        var report = try await command("--worlds", "2", "--examples", "0").report()
        report.exceptions[0].violations = 7
        report.exceptions[0].worlds = 9
        report.exceptions[0].firstWorlds = [3, 5]
        report.faults = [WorldsReport.Fault(name: "late", violations: 1, worlds: 1, firstWorlds: [8])]

        #expect(report.deviations.first == ["late", "1", "0", "8", "unknown: a fault"])
        let exception = report.exceptions[0]
        let allowed = Int(exception.most * Double(report.calls) / 100_000 + KnownException.mostOfAWorld)
        #expect(report.deviations[1] == [exception.name, "7", "\(allowed)", "3, 5, …", exception.reason])
        let lines = report.text.split(separator: "\n")
        let head = try #require(lines.first { $0.hasPrefix(WorldsReport.columns[0]) })
        let row = try #require(lines.first { $0.hasPrefix(exception.name) })
        #expect(
            head.range(of: "reason").map { head.distance(from: head.startIndex, to: $0.lowerBound) }
                == row.range(of: exception.reason).map { row.distance(from: row.startIndex, to: $0.lowerBound) }
        )
    }

    @Test func `the table of known exceptions is wrapped between words to the width of the terminal`() async throws {
        let report = try await command("--worlds", "2", "--examples", "0").report()

        let lines = report.text(columns: 100).components(separatedBy: "\n")

        #expect(lines.allSatisfy { $0.count <= 100 })
        let words = report.text.split { $0 == " " || $0 == "\n" }
        #expect(lines.joined(separator: " ").split(separator: " ").sorted() == words.sorted())
    }

    @Test
    func `the report page of the worlds command shows the verdict and the exceptions even if scripts are disabled`()
        async throws
    {
        let report = try await command("--worlds", "2", "--examples", "0").report()

        let html = try ReportPage().html(for: report)
        let plain = html[..<(try #require(html.range(of: "<script")).lowerBound)]

        #expect(plain.contains(HTMLText.escaped(report.verdict.headline)))
        #expect(plain.contains(HTMLText.escaped(WorldsReport.legend)))
        #expect(report.exceptions.allSatisfy { plain.contains(HTMLText.escaped($0.reason)) })
    }

    @Test func `a simulated client that never switches violates no rule of the simulation`() async throws {
        let report = try await command("--worlds", "40", "--policy", "off", "--examples", "0").report()

        #expect(report.faults.map(\.name) == [])
        #expect(report.requestsPerCall == 1)
    }

    @Test func `the command line finds the command simulate worlds and its help`() async {
        #expect(await Yard.run(["simulate", "worlds", "--help"]) == 0)
        #expect(Yard.help(on: ["simulate", "worlds"])?.hasPrefix("usage: yard simulate worlds") == true)
        #expect(Yard.help(on: ["simulate"])?.contains("simulate worlds") == true)
        #expect(await Yard.run(["simulate", "worlds", "--worlds", "none"]) == 2)
    }
}
