import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Runs the samples of the article of recipes against a matching backend.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RecipesTests {
    typealias Samples = RecipesSamples

    private func withBackend(
        _ body: (RestBackend, NetworkClient, Credentials) async throws -> Void
    ) async throws {
        let backend = try RestBackend()
        defer { backend.stop() }
        let credentials = Samples.credentials()
        let client = try Samples.client(backend.baseURL, credentials)
        defer { client.shutdown() }
        try await body(backend, client, credentials)
    }

    private static let ids = [1, 2, 3, 4, 5]

    // MARK: - Errors

    @Test
    func `in the recipe for errors, the detail of a response becomes the message, and the status becomes a code`()
        async throws
    {
        try await withBackend { _, client, credentials in
            credentials.set(.bearer("a1"), in: .release)
            let shop = Samples.ShopAPI(client: client)
            #expect(try await shop.article(3).name == "Article 3")

            let error = try #require(await #expect(throws: APIError.self) { try await shop.article(99) })

            #expect(error.module(Samples.ShopError.self) == .notFound)
            #expect(error.message == "No Article matches the given query.")
            #expect(error.fieldMessages == [:])
            #expect(error.status == 404)
            #expect(error.text?.contains("No Article") == true)
        }
    }

    @Test func `in the recipe for forms, errors for single fields are shown at the fields`() async throws {
        try await withBackend { _, client, credentials in
            credentials.set(.bearer("a1"), in: .release)
            let shop = Samples.ShopAPI(client: client)
            var marks: [String: [String]] = [:]
            var shown: [String] = []

            await Samples.create(
                Samples.Draft(name: ""),
                shop,
                show: { shown.append("\($0)") },
                mark: { marks[$0] = $1 },
                offerAgain: { _ in Issue.record("unexpected wait") }
            )

            #expect(marks == ["name": ["This field may not be blank."], "price": ["Required.", "Too low."]])
            #expect(shown == ["This field may not be blank. Required. Too low."])
        }
    }

    @Test func `a POST without a trailing slash that became a GET is shown in the error and the log`() async throws {
        let backend = try RestBackend()
        defer { backend.stop() }
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        let service = try Service(name: "shop", baseURL: backend.baseURL)
        let client = try NetworkClient(service: service) { options in
            options.interceptors = [.logging(to: ClosureSink { sink.yield($0.message) })]
        }
        defer { client.shutdown() }
        let shop = Samples.ShopAPI(client: client)
        let call = APIConfiguration(path: "articles", method: .post, body: .json(Samples.Draft(name: "new")))

        let error = try #require(
            await #expect(throws: APIError.self) { try await shop.value(Samples.Article.self, for: call) }
        )

        let place = "\(backend.baseURL)/articles"
        let way = "POST \(place), 301 turned it into GET \(place)/"
        #expect(error.description.contains(way))
        var seen: [String] = []
        for await line in lines {
            seen.append(line)
            if line.contains("ended with") { break }
        }
        #expect(seen.last?.contains("\(way) ended with status 200") == true)
        #expect(seen.first?.contains("POST articles: ") == true)
    }

    // MARK: - Pages

    @Test func `the recipe for pages reads a list of numbered pages before a login`() async throws {
        try await withBackend { backend, client, _ in
            let articles = Samples.ArticleListAPI(client: client)
            let small = PageRecorder<Samples.Article>(pageSize: 2, identifiedBy: \.id)
            try await small.refresh(articles.byNumber)
            while small.hasMore { try await small.loadMore(articles.byNumber) }

            #expect(small.items.map(\.id) == Self.ids)
            #expect(backend.server.requests.map(\.target).last == "/api/articles/?page=3&page_size=2")
            #expect(try await Samples.read(articles).map(\.id) == Self.ids)
        }
    }

    @Test func `the recipe for pages reads a list by offsets`() async throws {
        try await withBackend { backend, client, _ in
            let articles = Samples.ArticleListAPI(client: client)
            let counted = PageRecorder<Samples.Article>(pageSize: 2, strategy: .offset, identifiedBy: \.id)
            try await counted.refresh(articles.byOffset)
            while counted.hasMore { try await counted.loadMore(articles.byOffset) }

            #expect(counted.items.map(\.id) == Self.ids)
            #expect(backend.server.requests.map(\.target).last == "/api/articles/?limit=2&offset=4")
        }
    }

    @Test func `the recipe for pages reads a list whose next URL contains a cursor`() async throws {
        try await withBackend { backend, client, _ in
            let articles = Samples.ArticleListAPI(client: client)
            let linked = PageRecorder<Samples.Article>(pageSize: 2, strategy: .link, identifiedBy: \.id)
            try await linked.refresh(articles.byLink)
            while linked.hasMore { try await linked.loadMore(articles.byLink) }

            #expect(linked.items.map(\.id) == Self.ids)
            let targets = backend.server.requests.map(\.target)
            #expect(targets == ["page_size=2", "cursor=c2", "cursor=c4"].map { "/api/articles/?\($0)" })
        }
    }

    @Test func `the recipe for pages reads a list of bare arrays whose total is in a header field`()
        async throws
    {
        try await withBackend { backend, client, credentials in
            credentials.set(.bearer("a1"), in: .release)
            let search = Samples.SearchAPI(client: client)
            let found = PageRecorder<Samples.Article>(pageSize: 2, identifiedBy: \.id)
            try await found.refresh { try await search.page($0, nil) }
            while found.hasMore { try await found.loadMore { try await search.page($0, nil) } }

            #expect(found.items.map(\.id) == Self.ids)
            #expect(backend.server.requests.count == 3)
            #expect(!backend.server.requests.contains { $0.target.contains("search=") })
        }
    }

    @Test func `in the recipe for searches, each search has its own results, and an empty result is an error`()
        async throws
    {
        try await withBackend { _, client, credentials in
            credentials.set(.bearer("a1"), in: .release)
            let search = Samples.SearchAPI(client: client)

            let third = try await search.search("3")
            let fourth = try await search.search("4")
            let error = await #expect(throws: APIError.self) { _ = try await search.search("nothing") }

            #expect((third + fourth).map(\.id) == [3, 4])
            #expect(error?.code == .noData)
            #expect(search.found.items.isEmpty)
        }
    }

    // MARK: - Edits

    @Test func `in the recipe for saving, saving over an outdated version fails with a 412`() async throws {
        try await withBackend { _, client, credentials in
            credentials.set(.bearer("a1"), in: .release)
            let editor = Samples.EditorAPI(client: client)
            var (article, version) = try await editor.read(3)
            article.name = "New"
            #expect(try await editor.save(article, over: version).name == "New")

            let (late, gone) = (article, version)
            let error = await #expect(throws: APIError.self) { _ = try await editor.save(late, over: gone) }

            #expect(error?.status == 412)
            #expect(error?.mayHaveBeenExecuted == false)
            version = try await editor.read(3).version
            #expect(try await editor.save(article, over: version) == article)
        }
    }

    @Test func `dates in the HTTP date format are decoded`() throws {
        let module = Samples.dates()

        let dates = try module.decoding.decode([Date].self, from: Data(#"["Tue, 14 Nov 2023 22:30:00 GMT"]"#.utf8))

        #expect(dates == [Date(timeIntervalSince1970: 1_700_001_000)])
        #expect(throws: APIError.self) { try module.decoding.decode([Date].self, from: Data(#"["soon"]"#.utf8)) }
    }

    // MARK: - Tokens

    @Test func `a login is sent without a credential, and an expired token is refreshed once`() async throws {
        try await withBackend { backend, client, credentials in
            try await Samples.logIn(client, credentials, "ada", "secret")
            let shop = Samples.ShopAPI(client: client)
            backend.endAccess()

            async let first: Void = shop.send(APIConfiguration(path: "me/"))
            async let second: Void = shop.send(APIConfiguration(path: "me/"))
            _ = try await (first, second)

            #expect(backend.state.withLock { $0.refreshes } == 1)
            #expect(credentials.credential(in: .release)?.refreshToken == "r1")
        }
    }

    @Test func `the error for a wrong password has the server's message`() async throws {
        try await withBackend { _, client, _ in
            let login = Samples.TokenAPI(client: client)

            let error = await #expect(throws: APIError.self) { try await login.logIn("ada", password: "wrong") }

            #expect(error?.status == 401)
            #expect(error?.text?.contains("No active account") == true)
        }
    }

    @Test func `after a rejected refresh, public lists omit the token and private calls need a login`()
        async throws
    {
        try await withBackend { backend, client, credentials in
            try await Samples.logIn(client, credentials, "ada", "secret")
            backend.forgetEverybody()
            let (shop, articles) = (Samples.ShopAPI(client: client), Samples.ArticleListAPI(client: client))

            #expect(try await Samples.read(articles).map(\.id) == Self.ids)
            let error = await #expect(throws: APIError.self) { try await shop.send(APIConfiguration(path: "me/")) }
            #expect(try await Samples.read(articles).map(\.id) == Self.ids)

            #expect(error?.reason == .security(.loginRequired))
            #expect(error?.description.contains("allowsAnonymous") == true)
            let lists = backend.server.requests.filter { $0.path == "/api/articles/" }
            #expect(lists.map { $0.headers["Authorization"] } == ["Bearer a1", nil, nil])
            #expect(backend.state.withLock { $0.refreshes } == 1)
        }
    }

    @Test func `before a login, private calls fail unsent with an error that names the options`() async throws {
        try await withBackend { backend, client, _ in
            let shop = Samples.ShopAPI(client: client)

            let error = await #expect(throws: APIError.self) { try await shop.article(1) }

            #expect(error?.reason == .security(.loginRequired))
            #expect(error?.description.contains("GET articles/1/") == true)
            #expect(error?.description.contains("allowsAnonymous") == true)
            #expect(backend.server.requests.isEmpty)
        }
    }

    // MARK: - Limits

    @Test func `a read that got a 429 is repeated when the server allows it`() async throws {
        try await withBackend { backend, client, _ in
            backend.state.withLock { $0.isBusy = true }

            let articles = try await Samples.read(Samples.ArticleListAPI(client: client))

            #expect(articles.map(\.id) == Self.ids)
            #expect(backend.server.requests.map(\.status) == [429, 200])
        }
    }

    @Test func `a write that got a 429 reports when it may be repeated`() async throws {
        try await withBackend { backend, client, credentials in
            credentials.set(.bearer("a1"), in: .release)
            backend.state.withLock { $0.isBusy = true }
            var pauses: [Duration] = []

            await Samples.create(
                Samples.Draft(name: "new"),
                Samples.ShopAPI(client: client),
                show: { #expect("\($0)" == "Request was throttled.") },
                mark: { field, _ in Issue.record("unexpected error for the field \(field)") },
                offerAgain: { pauses.append($0) }
            )

            #expect(pauses == [.seconds(30)])
            #expect(backend.server.requests.count == 1)
        }
    }

    @Test func `a log with bodies hides the tokens of the backend`() async throws {
        let backend = try RestBackend()
        defer { backend.stop() }
        let (entries, sink) = AsyncStream.makeStream(of: LogEntry.self)
        let service = try Service(name: "shop", baseURL: backend.baseURL)
        let client = try NetworkClient(service: service) { options in
            options.interceptors = [.logging(to: ClosureSink { sink.yield($0) }, Samples.log())]
        }
        defer { client.shutdown() }

        _ = try await Samples.TokenAPI(client: client).logIn("ada", password: "secret")

        var bodies: [String] = []
        for await entry in entries {
            if let body = entry.metadata["body"] { bodies.append(body) }
            if entry.message.contains("ended with") { break }
        }
        #expect(bodies.count == 2)
        #expect(["a1", "r1", "secret"].filter { bodies.joined().contains($0) } == [])
    }
}
