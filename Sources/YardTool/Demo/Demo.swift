import Switchyard

/// The demo: a series of steps, each of which shows a feature and checks a statement about it.
struct Demo: Sendable {
    /// The steps of the complete demo.
    static let story: [any DemoStep] = [
        ListStep(),
        CacheStep(),
        StaleStep(),
        ModuleErrorStep(),
        RoleStep(),
        UploadStep(),
        DownloadStep(),
        OutageStep.death,
        OutageStep.hang,
        RecoveryStep(),
        EnvironmentStep(),
    ]

    var steps = Demo.story
    var pace = DemoPace.show
    var screen: DemoScreen
    /// The recorder of the data for the report.
    var notes = TrafficRecorder()
    /// Whether the calls are also shown in a browser.
    ///
    /// If `true`, the demo waits until the page is open.
    var isInspected = false

    /// Runs the steps and returns the report.
    func run() async throws -> DemoReport {
        let stage = try DemoStage(screen: screen, pace: pace, notes: notes)
        let inspection = isInspected ? try DemoInspection(of: stage.client, on: screen) : nil
        await inspection?.open()
        let start = ContinuousClock.now
        async let events: Void = stage.events.follow(stage.client.events(bufferingNewest: 10_000))
        var rest = steps.enumerated().map { (number: $0.offset + 1, step: $0.element) }[...]
        while let next = rest.first, !Task.isCancelled {
            let scene = rest.prefix { $0.step.needsTraffic == next.step.needsTraffic }
            rest = rest.dropFirst(scene.count)
            if next.step.needsTraffic {
                await withTraffic(on: stage) { await play(scene, on: stage) }
            } else {
                await play(scene, on: stage)
            }
        }
        let (isWhole, seconds) = (!Task.isCancelled, start.duration(to: .now) / .seconds(1))
        await inspection?.stay()
        inspection?.close()
        try stage.close()
        await events
        stage.record { report in
            report.switches = stage.events.count.switches
            report.failBacks = stage.events.count.failBacks
            report.environmentSwitches = stage.events.count.environmentSwitches
            report.serverRequests = stage.forum.requestCount
            report.seconds = seconds.rounded(places: 3)
            report.succeeded = report.brokenClaims.isEmpty && report.callerFailures == 0 && isWhole
        }
        return stage.report
    }

    private func play(_ scene: ArraySlice<(number: Int, step: any DemoStep)>, on stage: DemoStage) async {
        for (number, step) in scene where !Task.isCancelled {
            screen.begin(number, step.title)
            do {
                try await step.run(on: stage)
            } catch  where !Task.isCancelled {
                stage.record { report in
                    report.callerFailures += error is APIError ? 1 : 0
                    report.brokenClaims.append("\(step.title): \(error)")
                }
                screen.broke("\(error)")
            } catch {
                // If the user interrupts the demo, the statements of the remaining steps are not checked and do not
                // count as false.
                return
            }
        }
    }
}
