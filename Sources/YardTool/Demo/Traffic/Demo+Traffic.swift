import Switchyard
import SwitchyardStreams

extension Demo {
    /// Runs a part of the demo while ``SteadyTraffic`` makes calls and a table shows the servers as the client sees
    /// them.
    func withTraffic(on stage: DemoStage, _ body: () async -> Void) async {
        await accompany(stage, body)
        let tally = stage.traffic.total
        stage.record { report in
            report.requests += tally.calls
            report.callerFailures += tally.failures
            report.slowestMilliseconds = (tally.slowest / .milliseconds(1)).rounded()
        }
        screen.clear()
        screen.print([""] + table(of: stage))
    }

    /// Runs the ``SteadyTraffic`` and the table during `body`.
    ///
    /// Returns after the last call has ended and drawing has stopped.
    private func accompany(_ stage: DemoStage, _ body: () async -> Void) async {
        async let callers: Void = stage.traffic.run(callers: pace.callers, think: pace.think) {
            number throws(APIError) in
            try await stage.topics.topicResponse(id: 1 + number % 50).context
        }
        async let _: Void = redraw(stage)
        await body()
        stage.traffic.stop()
        await callers
    }

    /// Draws the table ten times a second until the task is cancelled.
    private func redraw(_ stage: DemoStage) async {
        guard screen.isLive else { return }
        while !Task.isCancelled {
            screen.show([""] + table(of: stage))
            // When the traffic has ended, the task is cancelled. The sleep then ends early, and the loop ends too.
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func table(of stage: DemoStage) -> [String] {
        ServerTable(
            snapshots: stage.client.servers,
            forum: stage.forum,
            events: stage.events,
            tally: stage.traffic.total,
            callers: pace.callers,
            styled: screen.styled
        ).lines
    }
}
