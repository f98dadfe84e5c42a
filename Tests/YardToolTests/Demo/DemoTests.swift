import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct DemoTests {
    @Test func `the report of the demo has the documented keys`() throws {
        let json = try JSONValue(parsing: Data(DemoReport().json().utf8))
        let keys = Set(try #require(json.object).keys)

        let promised: Set<String> = [
            "pagesLoaded", "itemsLoaded", "cacheHits", "moduleErrors", "uploadedBytes", "requests", "callerFailures",
            "switches", "failBacks", "environmentSwitches", "seconds",
        ]
        #expect(promised.isSubset(of: keys))
    }

    @Test func `the demo reports a claim that proves false and continues`() async throws {
        let recording = RecordingTerminal()
        let demo = Demo(steps: [BrokenStep(), ListStep()], pace: .brisk, screen: DemoScreen(recording.terminal))

        let report = try await demo.run()

        #expect(!report.succeeded)
        #expect(report.brokenClaims == ["A bold claim: not true: water runs uphill"])
        #expect(report.pagesLoaded == 3)
        #expect(recording.text.contains("✗ not true: water runs uphill"))
    }

    @Test func `a call of the demo that fails unexpectedly counts in callerFailures`() async throws {
        let report = try await Demo(steps: [FailingStep()], pace: .brisk, screen: .silent).run()

        #expect(report.callerFailures == 1)
        #expect(report.brokenClaims.count == 1)
        #expect(!report.succeeded)
    }

    @Test func `an interrupted demo removes its folder`() async throws {
        let step = WaitingStep()
        let task = Task { try await Demo(steps: [step, ListStep()], pace: .brisk, screen: .silent).run() }
        let folder = await step.folder

        #expect(FileManager.default.fileExists(atPath: folder.path))
        task.cancel()
        let report = try await task.value

        #expect(!report.succeeded)
        #expect(report.brokenClaims.isEmpty)
        #expect(report.pagesLoaded == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func `the demo counts failed calls, but not cancelled calls`() async {
        let traffic = SteadyTraffic()
        let calls = Locked(0)
        await traffic.run(callers: 1, think: .zero) { number throws(APIError) in
            let count = calls.withLock { count in
                count += 1
                return count
            }
            if count == 3 { traffic.stop() }
            if count == 2 { throw APIError(.cancelled(.caller)) }
            throw APIError(.status(500))
        }

        #expect(traffic.total.calls == 3)
        #expect(traffic.total.failures == 2)
        #expect(traffic.total.lastError?.reason == .status(500))
    }

    @Test func `the demo shows a table of servers on an interactive terminal`() async throws {
        let recording = RecordingTerminal(isInteractive: true, columns: 100, rows: 30)
        let demo = Demo(steps: [OutageStep.death], pace: .brisk, screen: DemoScreen(recording.terminal))

        try await calm()
        let report = try await demo.run()

        #expect(report.succeeded, "\(report.brokenClaims)")
        for word in ["client state", "was out", "requests", "p50", "p99", "primary", "tertiary", "▶", "callers"] {
            #expect(recording.text.contains(word), "\(word)")
        }
        #expect(
            recording.text.ranges(of: Escape.hideCursor).count == recording.text.ranges(of: Escape.showCursor).count
        )
    }

    @Test func `the conclusion of the demo states the duration, the switches and the returns, but no number of calls`()
    {
        var report = DemoReport()
        (report.requests, report.switches, report.failBacks, report.seconds) = (2_464, 1, 2, 12)

        #expect(DemoCommand.conclusion(report) == "All checks passed in 12.0 s: 1 switch, 2 returns.")
    }

    @Test func `the service file that is embedded in the demo is valid`() throws {
        let forum = try Forum()
        let service = try forum.service()
        forum.stop()

        #expect(service.servers.map(\.name) == ["primary", "secondary", "tertiary"])
        #expect(service.environments == ["release", "test"])
        #expect(service.switching == .smallFleet)
    }
}

extension DemoScreen {
    fileprivate static let silent = DemoScreen(.silent)
}

private struct BrokenStep: DemoStep {
    let title = "A bold claim"

    func run(on stage: DemoStage) async throws {
        try stage.claim(false, "water runs uphill")
    }
}

private struct FailingStep: DemoStep {
    let title = "A call that fails"

    func run(on stage: DemoStage) async throws {
        _ = try await stage.topics.topic(id: 1_000)
    }
}

/// A step that publishes its folder and runs until it is cancelled.
private struct WaitingStep: DemoStep {
    let title = "Waiting"
    private let folders: AsyncStream<URL>
    private let continuation: AsyncStream<URL>.Continuation

    init() {
        (folders, continuation) = AsyncStream.makeStream(of: URL.self)
    }

    var folder: URL {
        get async {
            for await folder in folders { return folder }
            return URL(fileURLWithPath: "/")
        }
    }

    func run(on stage: DemoStage) async throws {
        continuation.yield(stage.folder)
        try await Task.sleep(for: .seconds(3_600))
    }
}
