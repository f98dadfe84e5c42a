import Switchyard
import SwitchyardResources

/// A step that shows a stale stored response, and then the fresh response from the server.
struct StaleStep: DemoStep {
    let title = "A stale response, shown immediately and then refreshed"

    func run(on stage: DemoStage) async throws {
        for try await answer in stage.topics.headlines() {
            stage.screen.say("headlines()  \(answer.value.text), from a server")
        }
        try await Task.sleep(for: TopicAPI.headlineLifetime * 2)

        let clock = ContinuousClock()
        let start = clock.now
        var shown: [APIResponse<Headline>] = []
        for try await answer in stage.topics.headlines() {
            shown.append(answer)
            let origin = answer.isFromCache ? "from the cache, stale" : "from a server"
            stage.screen.say("headlines()  \(answer.value.text), \(origin), after \((clock.now - start).figure)")
        }
        stage.record { report in
            report.requests += 2
            report.staleResponses += shown.first?.isStale == true ? 1 : 0
        }
        let isTold = shown.count == 2 && shown[0].isStale && shown[1].source == .network
        try stage.claim(
            isTold && shown[0].value.edition < shown[1].value.edition,
            "the screen showed the stale response until the fresh response arrived"
        )
    }
}

extension APIResponse {
    /// Whether the value comes from the cache and is stale.
    fileprivate var isStale: Bool {
        if case .staleCache = source { true } else { false }
    }
}
