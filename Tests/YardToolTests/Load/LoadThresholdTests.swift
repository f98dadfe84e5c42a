import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardInspector
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct LoadThresholdTests {
    /// Runs 40 calls against a server, and returns the exit code and the report.
    private func load(
        _ words: [String] = [],
        answering response: LoopbackResponse = .text(""),
        _ prepare: (LoopbackServer) -> Void = { _ in }
    ) async throws -> (code: Int32, report: Report) {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in response }
        try server.start()
        prepare(server)
        let service = """
            {"service": "shop", "defaultEnvironment": "test",
            "servers": [{"name": "a", "baseURLs": {"test": "\(server.baseURL)"}}]}
            """
        return try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("shop.json")
            let page = folder.appendingPathComponent("report.html")
            try Data(service.utf8).write(to: file)
            let run = ["load", "--service", file.path, "--path", "topics", "--rate", "400", "--duration", "0.1"]
            let code = await Yard.run(run + ["--report", page.path] + words)
            return (code, try Report(inPage: page))
        }
    }

    @Test func `a load run without failures ends with exit code 0`() async throws {
        let (code, report) = try await load()

        #expect(code == 0)
        #expect(report.verdict.headline == "All 40 calls succeeded.")
    }

    @Test func `the report of a load run contains the attempts, the deadline and the limit for response times`()
        async throws
    {
        // The limits are long, because the calls may wait for seconds on a busy machine.
        let (code, report) = try await load(["--timeout", "60", "--p99-below", "50s"])

        #expect(code == 0)
        #expect(report.rates?.sent?.map { $0.reduce(0, +) } == [40])
        #expect(
            report.limits == [
                ReportLimit(name: "limit for 99 % of the calls", wait: 50_000),
                ReportLimit(name: "deadline", wait: 60_000),
            ]
        )
    }

    @Test func `if the server returns 404, a load run reports failures and ends with exit code 1`()
        async throws
    {
        let (code, report) = try await load(answering: LoopbackResponse(status: 404))

        #expect(code == 1)
        let headline = "No server failed. 40 of 40 calls failed with a request error: 404 Not Found."
        #expect(report.verdict.headline == headline)
        #expect(report.calls?.failures == ["http404"])
        #expect(report.faults.isEmpty)
    }

    @Test func `a load run whose only server refuses connections reports the outage and ends with exit code 1`()
        async throws
    {
        let (code, report) = try await load { $0.fault = .refuse }

        #expect(code == 1)
        #expect(report.verdict.headline.hasPrefix("The server was down for "))
        #expect(report.verdict.headline.hasSuffix(" 40 of 40 calls failed."))
        #expect(report.faults.map(\.what) == ["refused connections"])
    }

    @Test func `a load run with failures up to the limit ends with exit code 0`() async throws {
        let (code, report) = try await load(["--fail-above", "100%"], answering: LoopbackResponse(status: 404))

        #expect(code == 0)
        #expect(report.verdict.level == .good)
    }

    @Test func `a load run with waits above the limit ends with exit code 1`() async throws {
        #expect(try await load(["--p99-below", "0.001ms"]).code == 1)
        #expect(try await load(["--p99-below", "60s"]).code == 0)
    }

    @Test(
        arguments: [
            ("fail-above", "1", "--fail-above requires a percentage from 0% to 100%, found \"1\""),
            ("fail-above", "101%", "--fail-above requires a percentage from 0% to 100%, found \"101%\""),
            ("p99-below", "200", "--p99-below requires a time such as 200ms or 1.5s, found \"200\""),
            ("p99-below", "0ms", "--p99-below requires a time such as 200ms or 1.5s, found \"0ms\""),
        ]
    )
    func `an invalid limit of a load run is an error that names the valid form`(
        name: String,
        value: String,
        message: String
    ) {
        let error = #expect(throws: UsageError.self) {
            _ = try LoadThresholds(Arguments(["--\(name)", value], options: LoadThresholds.options))
        }
        #expect(error?.description == message)
    }

    @Test func `each limit that a load run exceeds is explained in a sentence`() throws {
        let words = ["--fail-above", "1%", "--p99-below", "1.5s"]
        let thresholds = try LoadThresholds(Arguments(words, options: LoadThresholds.options))
        let phase = ReportPhase(name: .all, calls: 400, failures: 5, p99: 2_000)

        #expect(
            thresholds.problems(of: phase) == [
                "1.25 % of the calls failed, but at most 1 % may fail.",
                "99 % of the callers waited up to 2.0 s, but must wait less than 1.5 s.",
            ]
        )
    }

    @Test func `the status line of a load run on a terminal counts the calls`() async throws {
        let service =
            #"{"service": "s", "defaultEnvironment": "test", "servers": [{"name": "a", "baseURLs": {"test": "http://127.0.0.1"}}]}"#
        let plan = try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("s.json")
            try Data(service.utf8).write(to: file)
            let words = ["--service", file.path, "--path", "p", "--rate", "1", "--duration", "27"]
            return try LoadPlan(Arguments(words, options: LoadCommand.options))
        }
        let screen = LoadScreen(RecordingTerminal(isInteractive: true, columns: 50, rows: 9).terminal, plan)
        let context = RequestContext(service: "s", environment: .test, method: .get, server: "a", attempts: 1)
        let response = ServiceResponse(id: RequestID(), response: HTTPResponse(status: 404), context: context)

        screen.begin()
        screen.begin()
        screen.write(LoadRecord(load: "open", due: 1, done: 1.5, result: .success(response)))
        screen.write(SwitchRecord(at: 0, from: "a", to: "b", cause: "score"))

        #expect(screen.line.hasSuffix(" of 27 s: 1 call, 1 failed, 1 active, slowest 500 ms, calls go to b"))
        #expect(screen.lines.count == 2 && screen.lines.allSatisfy { $0.count < 50 })
    }
}
