import Switchyard

/// A step that makes the same call twice.
///
/// The second response comes from the cache, without a request to a server.
struct CacheStep: DemoStep {
    let title = "The same request again, served from the cache"
    /// The identifier of the requested user.
    static let user = 1

    func run(on stage: DemoStage) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let asked = try await stage.users.user(id: Self.user)
        stage.screen.say("user(id: \(asked.id))  \(asked.name), from a server in \((clock.now - start).figure)")
        let before = stage.forum.requestCount
        let repeats = 3
        var same = true
        let again = clock.now
        for _ in 0..<repeats {
            let cached = try await stage.users.user(id: Self.user)
            same = same && cached == asked
        }
        let each = (clock.now - again) / repeats
        let hits = repeats - (stage.forum.requestCount - before)
        stage.record { report in
            report.requests += 1 + repeats
            report.cacheHits += hits
        }
        try stage.claim(same && hits == repeats, "\(hits) more calls in \(each.figure) each, without any request")
    }
}
