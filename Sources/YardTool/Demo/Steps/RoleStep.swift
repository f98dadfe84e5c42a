import Switchyard
import SwitchyardTesting

/// A step with a mirror that serves only the headline, under a path of its own.
///
/// It verifies that the mirror takes over the headline of a dead server, and receives no other request.
struct RoleStep: DemoStep {
    let title = "A mirror for some requests, with a path of its own"

    func run(on stage: DemoStage) async throws {
        var role = Server(
            name: "mirror",
            baseURLs: [:],
            serves: ["GET /headline"],
            rewrites: ["/headline": "/static/headline.json"]
        )
        let primary = ForumServer("primary", ForumRoutes(.release))
        let mirror = ForumServer("mirror", ForumRoutes(.release), at: .init(role: try ServerRole(role, at: "mirror")))
        defer { for machine in [primary, mirror] { machine.server.stop() } }
        for machine in [primary, mirror] { try machine.server.start() }
        role.baseURLs = [.release: try ServerURL(mirror.baseURL)]
        let general = Server(name: "primary", baseURLs: [.release: try ServerURL(primary.baseURL)])
        let client = try NetworkClient(
            service: Service(name: "forum", servers: [general, role], defaultEnvironment: .release)
        )
        defer { client.shutdown() }
        primary.server.fault = .refuse
        stage.screen.say("primary is killed; mirror serves only GET /headline, as /static/headline.json")
        try await ask(client, mirror, on: stage)
    }

    private func ask(_ client: NetworkClient, _ mirror: ForumServer, on stage: DemoStage) async throws {
        let topics = TopicAPI(client: client)
        let headline = try await topics.headline()
        let path = mirror.server.requests.last?.path ?? "-"
        stage.screen.say("headline()    \"\(headline.text)\" from GET \(path)")
        let error = await failure { () throws(APIError) in _ = try await topics.topic(id: 1) }
        stage.screen.say("topic(id: 1)  \(error?.message ?? "no error")")
        stage.record { $0.requests += 2 }
        try stage.claim(
            path == "/v1/static/headline.json" && error != nil && mirror.requestCount == 1,
            "the mirror answered the request for the headline and received no other request"
        )
    }
}
