import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ReadmeTests {
    @Test func `a minimal custom transport can send the requests of a client`() async throws {
        let transport = TableTransport(answers: ["http://table.test/topics?page=1&size=20": Data("[]".utf8)])
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: [.test: try ServerURL("http://table.test")])],
            defaultEnvironment: .test
        )
        let client = try NetworkClient(service: service, transport: transport)
        var configuration = APIConfiguration(path: "topics", query: ["page": 1, "size": 20])
        configuration.timeout = .seconds(30)

        #expect(try await client.send(configuration).status == 200)
    }

    @Test func `the service file in the GettingStarted article is valid`() throws {
        let blocks = ArticleText.blocks(in: try ArticleText.article("GettingStarted"), from: "```json", to: "```")
        let json = try #require(blocks.first)

        let service = try ServiceCatalog.service(from: Data(json.joined(separator: "\n").utf8), named: "topics")

        #expect(service.servers.map(\.name) == ["primary", "secondary"])
        #expect(service.defaultEnvironment == .release)
    }

    @Test func `the sample module in the README refreshes the topics and loads their next page`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/topics") { request in
            let page = Int(request.queryValue("page") ?? "") ?? 1
            let first = (page - 1) * 20
            let topics = (first..<min(first + 20, 30)).map { Topic(id: $0, title: "Topic \($0)") }
            return .json(try JSONEncoder().encode(topics))
        }
        try server.start()
        defer { server.stop() }
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: [.test: try ServerURL(server.baseURL)])],
            defaultEnvironment: .test
        )
        let api = TopicAPI(client: try NetworkClient(service: service))

        let first = try await api.refreshTopics()
        let all = try await api.loadMoreTopics()

        #expect(first.count == 20)
        #expect(all.map(\.id) == Array(20..<30) || all.map(\.id) == Array(0..<30))
    }

    @Test func `the screen of the README shows an error for a missing user`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/users/7", answering: LoopbackResponse(status: 404))
        try server.start()
        defer { server.stop() }
        let servers = [Server(name: "primary", baseURLs: [.test: try ServerURL(server.baseURL)])]
        let service = try Service(name: "users", servers: servers, defaultEnvironment: .test)
        let users = UserAPI(client: try NetworkClient(service: service))

        await confirmation { missing in
            await showing(users, show: { Issue.record("\($0)") }, showMissingUser: { missing() }).value
        }
    }

    @Test func `the samples of several README sections work together`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/topics", answering: .json(#"[{"id": 1, "title": "one"}]"#))
        server.route(.get, "/users/7", answering: LoopbackResponse(status: 404))
        try server.start()
        defer { server.stop() }
        let service = try Service(name: "forum", baseURL: server.baseURL)
        var shown: [String] = []

        try await sideBySide(service, show: { shown.append("\($0)") }, showMissingUser: { shown.append("missing") })
        let client = try NetworkClient(service: service)
        let error = await #expect(throws: APIError.self) { try await screen(client) }

        #expect(shown.count == 2 && shown.last == "missing")
        #expect(error?.module(UserError.self) == .userNotFound)
    }

    @Test func `the client of the README sends its credential and header, and transfers files`() async throws {
        let server = LoopbackServer()
        server.route(.get, "/films/7.mov") { request in
            let isKnown = request.headers["Authorization"] == "Bearer secret" && request.headers["X-App"] == "demo"
            return isKnown ? .text("film") : LoopbackResponse(status: 401)
        }
        server.route(.post, "/films") {
            .text("", status: try await $0.body.collect() == Data("film".utf8) ? 201 : 400)
        }
        server.route(.get, "/news", answering: LoopbackResponse(status: 204))
        try server.start()
        defer { server.stop() }
        let servers = [Server(name: "primary", baseURLs: [.test: try ServerURL(server.baseURL)])]
        let service = try Service(name: "films", servers: servers, defaultEnvironment: .test)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mov")
        defer { try? FileManager.default.removeItem(at: file) }

        let client = try configuring(service, token: "secret")

        #expect(try await transferring(client, to: file) == 201)
    }
}
