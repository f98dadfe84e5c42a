import Switchyard

/// A step that switches the running app to the test environment.
struct EnvironmentStep: DemoStep {
    let title = "A change of the environment at run time"

    func run(on stage: DemoStage) async throws {
        let live = stage.forum.live
        try stage.client.switchEnvironment(to: .test)
        let before = live.map(\.requestCount).reduce(0, +)
        let topics = try await stage.topics.refreshTopics()
        stage.screen.say("refreshTopics()  \(topics.count) topics, the first is \"\(topics.first?.title ?? "-")\"")
        let user = try await stage.users.user(id: CacheStep.user)
        stage.screen.say("user(id: \(user.id))  \(user.name), not the cached user of the live environment")
        stage.record { report in
            report.requests += 2
            report.pagesLoaded += 1
            report.itemsLoaded += topics.count
        }
        let isLiveUntouched = live.map(\.requestCount).reduce(0, +) == before
        let isTest = topics == ForumData.test.topics && ForumData.test.users.contains(user)
        try stage.claim(
            isTest && isLiveUntouched && stage.forum.test.requestCount > 0,
            "both responses came from the test server, without a request to the live servers"
        )
    }
}
