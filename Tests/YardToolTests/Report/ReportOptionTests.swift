import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct ReportOptionTests {
    @Test(arguments: ["load", "simulate", "demo"]) func `the help names the option --report`(_ command: String) throws {
        #expect(try #require(Yard.help(on: [command])).contains("--report FILE"))
    }

    @Test(arguments: [["simulate", "--clients", "10"], ["demo"]])
    func `a command fails before it starts if its report cannot be written`(_ words: [String]) async throws {
        try await withTemporaryFolder { folder in
            let missing = folder.appendingPathComponent("no/such/folder/report.html").path

            #expect(await Yard.run(words + ["--report", missing]) == 2)
            #expect(await Yard.run(words + ["--report", folder.path]) == 2)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.isEmpty)
        }
    }

    @Test func `the error for a report that cannot be written names the option, the file and the reason`() throws {
        let words = ["--report", "/no-such-folder/report.html"]
        let error = #expect(throws: UsageError.self) {
            _ = try ReportFile(Arguments(words, options: [ReportFile.option]))
        }

        let expected = "--report: cannot write /no-such-folder/report.html: the folder /no-such-folder does not exist"
        #expect(error?.description == expected)
    }

    @Test func `the report of a load run contains every call`() async throws {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in .text("") }
        try server.start()

        let report = try await withTemporaryFolder { folder in
            let service = """
                {"service": "shop", "defaultEnvironment": "test",
                "servers": [{"name": "a", "baseURLs": {"test": "\(server.baseURL)"}}], "switching": {"policy": "off"}}
                """
            let file = folder.appendingPathComponent("shop.json")
            try Data(service.utf8).write(to: file)
            let page = folder.appendingPathComponent("report.html")
            let words = ["--service", file.path, "--path", "topics/{n}", "--rate", "1000", "--duration", "0.02"]
            #expect(await Yard.run(["load"] + words + ["--report", page.path]) == 0)
            return try Report(inPage: page)
        }

        #expect(report.calls?.start.count == 20)
        #expect(report.calls?.start.prefix(3) == [0, 0.001, 0.002])
        #expect(report.totals.map(\.answered) == [20])
        #expect(report.facts.contains(Report.Fact(name: "calls", value: "GET topics/{n}")))
    }

    @Test func `the report of the demo shows both outages and their causes`() async throws {
        var (facts, notes) = (DemoReport(), TrafficRecorder())
        // On a busy machine, the responses of the third server may be so late that the client leaves it too.
        let isUndisturbed = try await isPrompt(attempts: 5) {
            try await calm()
            notes = TrafficRecorder()
            let steps: [any DemoStep] = [OutageStep.death, OutageStep.hang, RecoveryStep()]
            facts = try await Demo(steps: steps, pace: .brisk, screen: DemoScreen(.silent), notes: notes).run()
            return facts.succeeded && Report(of: TrafficStory(ofDemo: notes.content)).faults.count == 2
        }
        let report = Report(of: TrafficStory(ofDemo: notes.content))

        #expect(isUndisturbed, "\(facts)")
        #expect(report.calls?.start.count == facts.requests)
        #expect(report.faults.map(\.what) == ["was killed", "was stopped"])
        #expect(report.faults.allSatisfy { $0.isKnown && $0.until != nil })
        #expect(report.marks.count { $0.kind == .switched } == facts.switches + facts.failBacks)
        #expect(report.summary.hasPrefix("primary was killed at "))
    }
}

extension Report {
    /// Decodes the report in a page.
    init(inPage file: URL) throws {
        let html = try String(contentsOf: file, encoding: .utf8)
        let begin = try #require(html.range(of: #"id="report">"#)).upperBound
        let end = try #require(html.range(of: "</script>", range: begin..<html.endIndex)).lowerBound
        self = try JSONDecoder().decode(Report.self, from: Data(html[begin..<end].utf8))
    }
}
