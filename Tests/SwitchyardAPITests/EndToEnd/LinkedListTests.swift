import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Paged lists of several servers whose pages link to the next page by an absolute URL.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LinkedListTests {
    /// Two servers whose pages link to the next page by their own URL.
    private struct Yard {
        let servers: [LoopbackServer]
        let client: NetworkClient

        init(elsewhere: String? = nil) throws {
            servers = try ["primary", "secondary"].map { name in
                let server = LoopbackServer()
                server.route(.get, "/v1/forums/7/topics") { request in
                    let page = request.queryValue("page").flatMap { Int($0) } ?? 1
                    let base = elsewhere ?? "http://\(request.headers["Host"] ?? "")"
                    let link = page < 3 ? ["Link": "<\(base)/v1/forums/7/topics?page=\(page + 1)>; rel=\"next\""] : [:]
                    var headers: HTTPHeaders = ["Content-Type": "application/json"]
                    for (name, value) in link { headers.set(name, value) }
                    let body = #"[{"id":\#(page),"title":"\#(name)"}]"#
                    return LoopbackResponse(status: 200, headers: headers, body: .data(Data(body.utf8)))
                }
                try server.start()
                return server
            }
            let list = try zip(["primary", "secondary"], servers).map { name, server in
                Server(name: name, baseURLs: ["test": try ServerURL("\(server.baseURL)/v1")])
            }
            client = try NetworkClient(service: try Service(name: "t", servers: list, defaultEnvironment: "test"))
        }

        func page(_ request: PageRequest) async throws -> Page<Topic> {
            let call = APIConfiguration(path: request.link ?? "forums/7/topics")
            let answer = try await TopicAPI(client: client).response([Topic].self, for: call)
            let links = answer.headers.values(of: "Link")
            return Page(answer.value, linkHeader: links, url: answer.context?.url?.text ?? "").relative(to: client)
        }

        func stop() {
            client.shutdown()
            for server in servers { server.stop() }
        }
    }

    @Test func `a list continues at another server if the server of the next link is dead`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        let pages = PageRecorder<Topic>(strategy: .link)
        try await pages.refresh { try await yard.page($0) }
        yard.servers[0].fault = .refuse

        try await pages.loadMore { try await yard.page($0) }
        try await pages.loadMore { try await yard.page($0) }

        #expect(pages.items.map(\.title) == ["primary", "secondary", "secondary"])
        #expect(pages.items.map(\.id) == [1, 2, 3])
        #expect(!pages.hasMore)
    }

    @Test func `a link to the next page at a foreign origin is refused`() async throws {
        let yard = try Yard(elsewhere: "http://127.0.0.1:1")
        defer { yard.stop() }
        let pages = PageRecorder<Topic>(strategy: .link)
        try await pages.refresh { try await yard.page($0) }

        let link = "http://127.0.0.1:1/v1/forums/7/topics?page=2"
        await #expect(throws: APIError(.security(.foreignOrigin(link)))) {
            try await pages.loadMore { try await yard.page($0) }
        }
    }

    @Test func `a relative link to the next page in the body becomes the path of the next request`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        var page = Page([1], nextLink: "?page=2")
        page.url = "\(yard.servers[1].baseURL)/v1/topics"

        #expect(page.relative(to: yard.client).nextLink == "topics?page=2")
    }
}
