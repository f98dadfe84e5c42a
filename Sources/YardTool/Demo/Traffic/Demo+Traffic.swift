import Switchyard
import SwitchyardStreams

extension Demo {
    /// Plays something while callers keep asking, and a table shows what the client makes of the servers.
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

    /// Returns when the last caller has its answer and nothing draws any more.
    private func accompany(_ stage: DemoStage, _ body: () async -> Void) async {
        async let callers: Void = stage.traffic.run(callers: pace.callers, think: pace.think) {
            number throws(APIError) in
            try await stage.topics.topicAnswer(id: 1 + number % 50).context
        }
        async let _: Void = redraw(stage)
        await body()
        stage.traffic.stop()
        await callers
    }

    /// Draws the table ten times a second, until the task is cancelled.
    private func redraw(_ stage: DemoStage) async {
        guard screen.isLive else { return }
        while !Task.isCancelled {
            screen.show([""] + table(of: stage))
            // Cancelled when the traffic has ended; then the loop ends too.
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
