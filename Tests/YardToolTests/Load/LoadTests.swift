import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct LoadTests {
    @Test(
        arguments: [
            (200, nil), (204, nil), (304, nil), (404, "http404"), (499, "http499"), (500, "http500"), (503, "http503"),
        ]
    )
    func `a response in a load run counts as successful if its status is below 400`(_ status: Int, _ error: String?) {
        let record = Self.record(status)

        #expect(record.ok == (error == nil))
        #expect(record.status == status)
        #expect(record.error == error)
    }

    @Test func `the summary of a load run counts failures, switches and returns`() {
        let records = [200, 404, 503, 500, 404, 405, 503].map(Self.record)
        let switches = LoadSummary.Switches(away: 2, returns: 1)
        let summary = """
            7 calls, 6 failed (2 × 404 Not Found, 2 × 503 Service Unavailable, 1 × 405 Method Not Allowed, \
            1 × 500 Internal Server Error), 2 switches, 1 return, \

            """

        #expect(LoadSummary(records, switches: switches).text.hasPrefix(summary))
        #expect(LoadSummary([]).text.hasPrefix("0 calls, 0 failed, 0 switches, 0 returns, "))
    }

    @Test func `the first request of a load run has the number 1 in its path`() async throws {
        let server = try Self.server()

        try await Self.withFile(for: server) { file in
            let words = ["--service", file, "--path", "topics/{n}", "--rate", "1000", "--duration", "0.003"]
            #expect(await Yard.run(["load"] + words) == 0)
        }

        #expect(server.requests.map(\.path).sorted() == ["/topics/1", "/topics/2", "/topics/3"])
    }

    @Test(arguments: [("1000", "0.0025", 3), ("0.5", "0.01", 1), ("100", "0.29", 29), ("300", "0.01", 3)])
    func `the rate and the duration of a load run determine its number of requests`(
        _ rate: String,
        _ time: String,
        _ count: Int
    )
        async throws
    {
        let server = try Self.server()

        try await Self.withFile(for: server) { file in
            let words = ["--service", file, "--path", "topics", "--rate", rate, "--duration", time]
            #expect(await Yard.run(["load"] + words) == 0)
        }

        #expect(server.statistics.requestsReceived == count)
    }

    @Test func `a load run without a given start time starts when it is ready`() async throws {
        let server = try Self.server()

        let (ready, records) = try await Self.withFile(for: server) { file in
            let words = ["--service", file, "--path", "topics", "--rate", "100", "--duration", "0.02"]
            let plan = try LoadPlan(Arguments(words, options: LoadCommand.options))
            let client = try NetworkClient(service: plan.service)
            let ready = Date().timeIntervalSince1970
            let output = LineOutput(.silent)
            return (ready, await LoadRunner(plan: plan, client: client, output: output).run())
        }

        #expect(records.count == 2)
        #expect(records.allSatisfy { $0.due >= ready })
    }

    @Test func `a worker of a load run does not wait for a request that is due after the end`() async throws {
        let server = try Self.server()
        let start = ContinuousClock.now

        try await Self.withFile(for: server) { file in
            let words = ["--service", file, "--path", "topics", "--concurrency", "2", "--think", "250"]
            #expect(await Yard.run(["load"] + words + ["--duration", "200"]) == 0)
        }

        #expect(start.duration(to: .now) < .seconds(200))
        #expect(server.statistics.requestsReceived == 2)
    }

    @Test func `a load run that is cancelled ends and prints its active requests`() async throws {
        let server = try Self.server()
        server.fault = .hang
        let terminal = RecordingTerminal()

        let records = try await Self.withFile(for: server) { file in
            let words = ["--service", file, "--path", "topics", "--rate", "100", "--concurrency", "2"]
            let plan = try LoadPlan(Arguments(words + ["--duration", "20"], options: LoadCommand.options))
            let client = try NetworkClient(service: plan.service)
            let runner = LoadRunner(plan: plan, client: client, output: LineOutput(terminal.terminal))
            let run = Task { await runner.run() }
            await server.waitForRequests(10)
            run.cancel()
            return await run.value
        }

        // All requests that may be due by the time of the cancel: 2,000 of the open loop and one for each worker.
        #expect((10...2_002).contains(records.count))
        #expect(records.allSatisfy { $0.error == "cancelled" })
        #expect(terminal.text.split(separator: "\n").count == records.count)
    }

    @Test func `the keys in every output line of a load run are in a fixed order`() {
        let terminal = RecordingTerminal()
        let output = LineOutput(terminal.terminal)

        output.write(Self.record(200))
        output.write(SwitchRecord(at: 0, from: "a", to: "b", cause: "score"))

        let lines = terminal.text.split(separator: "\n")
        let names = ["attempts", "done", "due", "error", "load", "ok", "server", "status"]
        #expect(lines.first?.matches(of: /"(\w+)":/).map { String($0.1) } == names)
        #expect(lines.last?.matches(of: /"(\w+)":/).map { String($0.1) } == ["at", "cause", "event", "from", "to"])
    }

    @Test(arguments: ["service", "path", "duration"]) func `the help of the load command marks the required options`(
        _ option: String
    )
        throws
    {
        let lines = LoadCommand.help.split(separator: "\n")

        let line = try #require(lines.first { $0.contains("--\(option) ") })
        #expect(line.contains("required"))
        #expect(LoadCommand.help.components(separatedBy: "required").count == 4)
    }

    private static func server() throws -> LoopbackServer {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in .text("") }
        try server.start()
        return server
    }

    /// Runs a closure with the service file of a server.
    private static func withFile<Value>(
        for server: LoopbackServer,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let service = """
            {"service": "shop", "defaultEnvironment": "test",
            "servers": [{"name": "a", "baseURLs": {"test": "\(server.baseURL)"}}], "switching": {"policy": "off"}}
            """
        return try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("shop.json")
            try Data(service.utf8).write(to: file)
            return try await body(file.path)
        }
    }

    @Test(arguments: [(1, "p50 1000.0 ms, p99 1000.0 ms"), (100, "p50 50000.0 ms, p99 99000.0 ms")])
    func `percentiles of response times in a load run use the nearest rank`(
        _ count: Int,
        _ figures: String
    ) {
        let records = (1...count).map { Self.record(200, done: 1 + Double($0)) }.shuffled()

        #expect(LoadSummary(records).text.contains(figures))
    }

    @Test func `the summary of a load run names the failures in words and uses singular and plural forms`() {
        let text = LoadSummary([Self.record(404)], switches: .init(away: 1, returns: 0)).text

        #expect(text.hasPrefix("1 call, 1 failed (1 × 404 Not Found), 1 switch, 0 returns, waits of the callers: "))
    }

    private static func record(_ status: Int) -> LoadRecord { record(status, done: 2) }

    private static func record(_ status: Int, done: Double) -> LoadRecord {
        let context = RequestContext(service: "shop", environment: .test, method: .get, server: "a", attempts: 1)
        let answer = ServiceResponse(id: RequestID(), response: HTTPResponse(status: status), context: context)
        return LoadRecord(load: "open", due: 1, done: done, result: .success(answer))
    }
}
