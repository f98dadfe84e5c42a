import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct DemoStepTests {
    @Test func `the demo loads a list to its end`() async throws {
        let report = try await play([ListStep()])

        #expect(report.succeeded)
        #expect(report.pagesLoaded == 3)
        #expect(report.itemsLoaded == 57)
    }

    @Test func `the demo repeats a request and gets the response from the cache`() async throws {
        let report = try await play([CacheStep()])

        #expect(report.succeeded)
        #expect(report.cacheHits == 3)
        // On a busy machine the only real request may be hedged.
        #expect((1...3).contains(report.serverRequests))
    }

    @Test func `the demo shows a module error in two languages`() async throws {
        let recording = RecordingTerminal()
        let report = try await play([ModuleErrorStep()], on: recording)

        #expect(report.succeeded)
        #expect(report.moduleErrors == 1)
        #expect(recording.text.contains("There is no such user."))
        #expect(recording.text.contains("用户不存在"))
    }

    @Test func `the demo sends a mirror only the requests that it serves`() async throws {
        let recording = RecordingTerminal()
        let report = try await play([RoleStep()], on: recording)

        #expect(report.succeeded, "\(report.brokenClaims)")
        #expect(report.requests == 2)
        #expect(recording.text.contains("from GET /v1/static/headline.json"))
    }

    @Test func `an upload in the demo arrives completely and reports progress`() async throws {
        let recording = RecordingTerminal()
        let report = try await play([UploadStep()], on: recording)

        #expect(report.succeeded)
        #expect(report.uploadedBytes == DemoPace.brisk.uploadBytes)
        #expect(recording.text.contains("100 %"))
    }

    @Test func `an interrupted download in the demo resumes where it stopped`() async throws {
        let recording = RecordingTerminal()
        let report = try await play([DownloadStep()], on: recording)

        #expect(report.succeeded, "\(report.brokenClaims)")
        #expect(report.downloadedBytes == DemoPace.brisk.downloadBytes)
        #expect(report.resumedBytes > 0)
        #expect(recording.text.contains("100 %"))
    }

    @Test func `the death of a server in the demo causes no failed call`() async throws {
        try await expect([OutageStep.death]) { $0.switches == 1 && $0.callerFailures == 0 }
    }

    @Test func `a server that hangs in the demo causes no failed call`() async throws {
        try await expect([OutageStep.hang]) { $0.switches == 1 && $0.callerFailures == 0 }
    }

    @Test func `a server that recovers in the demo gets its traffic back`() async throws {
        try await expect([OutageStep.death, RecoveryStep()]) { $0.failBacks == 1 }
    }

    @Test func `a new environment in the demo does not use the cache of the first environment`() async throws {
        let report = try await play([CacheStep(), EnvironmentStep()])

        #expect(report.succeeded, "\(report.brokenClaims)")
        #expect(report.environmentSwitches == 1)
    }

    /// Plays steps in real time until a run succeeds.
    ///
    /// On a busy machine, the responses of a server that works may be so late that the client leaves it too.
    private func expect(_ steps: [any DemoStep], _ condition: (DemoReport) -> Bool) async throws {
        var report = DemoReport()
        let isMet = try await isPrompt(attempts: 5) {
            report = try await play(steps)
            return report.succeeded && condition(report)
        }
        #expect(isMet, "\(report)")
    }

    private func play(
        _ steps: [any DemoStep],
        on recording: RecordingTerminal = RecordingTerminal()
    ) async throws -> DemoReport {
        try await calm()
        return try await Demo(steps: steps, pace: .brisk, screen: DemoScreen(recording.terminal)).run()
    }
}
