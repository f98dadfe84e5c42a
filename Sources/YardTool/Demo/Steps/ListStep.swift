import Switchyard

/// A step that loads all pages of a list.
struct ListStep: DemoStep {
    let title = "A list, loaded page by page until the end"

    func run(on stage: DemoStage) async throws {
        let topics = stage.topics
        let first = try await topics.refreshTopics()
        stage.took(first)
        stage.screen.say("refreshTopics()   \(first.count) topics")
        while topics.hasMoreTopics {
            let more = try await topics.loadMoreTopics()
            stage.took(more)
            stage.screen.say("loadMoreTopics()  \(more.count) more, \(topics.topics.count) in all")
        }
        let end = await failure { () throws(APIError) in _ = try await topics.loadMoreTopics() }
        let report = stage.report
        try stage.claim(
            end?.code == .noMoreData && report.itemsLoaded == topics.topics.count,
            "\(report.pagesLoaded) pages, \(report.itemsLoaded) topics, then \"\(end?.message ?? "no error")\""
        )
    }
}

extension DemoStage {
    fileprivate func took(_ page: [Topic]) {
        record { report in
            report.requests += 1
            report.pagesLoaded += 1
            report.itemsLoaded += page.count
        }
    }
}

/// Returns the error of a call, or `nil` if it succeeds.
func failure(of call: () async throws(APIError) -> Void) async -> APIError? {
    do throws(APIError) {
        try await call()
        return nil
    } catch {
        return error
    }
}
