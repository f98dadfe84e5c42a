import Dispatch
import Foundation
import Switchyard
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Runs the samples of the migration guides against a server.
@Suite(.timeLimit(.minutes(5)), .prompt) struct GuideTests {
    private let server = LoopbackServer()
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guides-\(UUID().uuidString)")
    private let queue = DispatchQueue(label: "guides")

    private func withService(_ body: (Service) async throws -> Void) async throws {
        try server.start()
        defer { server.stop() }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let primary = try Server(
            name: "primary",
            baseURLs: [.test: ServerURL(server.baseURL)],
            cdnURLs: [.test: ServerURL(server.baseURL + "/cdn")]
        )
        // The samples have the deadlines of real apps, which the wait for a free task could use up.
        try await calm()
        try await body(try Service(name: "forum", servers: [primary], defaultEnvironment: .test))
    }

    @Test func `the samples of the AFNetworking guide run`() async throws {
        server.route(.get, "/topics", answering: .json(#"[{"id":1,"title":"one"}]"#))
        server.route(.post, "/topics", answering: .json(#"{"id":2,"title":"two"}"#, status: 201))
        server.route(.post, "/photos") { .text("", status: try await $0.body.collect().count > 4 ? 201 : 400) }
        server.route(.get, "/films/7.mov", answering: .text("film"))
        try await withService { service in
            let client = try AFNetworkingSamples.setUp(service)
            let forum = AFNetworkingSamples.ForumAPI(client: client)
            let photo = folder.appendingPathComponent("photo.png")
            try Data("image".utf8).write(to: photo)

            #expect(try await forum.topics(tag: "swift") == [Topic(id: 1, title: "one")])
            #expect(try await forum.create(title: "two").id == 2)
            AFNetworkingSamples.callBack(forum, on: queue) { _ in }
            #expect(try await AFNetworkingSamples.upload(photo, "new", with: client) { _ in } == 201)
            let film = try await AFNetworkingSamples.download(forum, to: folder) { _ in }
            #expect(try String(contentsOf: film, encoding: .utf8) == "film")
            #expect(film.lastPathComponent == "7.mov")
            await AFNetworkingSamples.watch(client, ManualReachability()) { _ in }.stop()
            #expect(server.requests.first?.headers["X-App"] == "demo")
        }
    }

    @Test func `the pinning sample in the AFNetworking guide throws an error if the folder has no certificates`()
        async throws
    {
        try await withService { service in
            #expect(throws: PinRule.Problem.noCertificate(path: folder.path)) {
                _ = try AFNetworkingSamples.pin(service, certificates: folder)
            }
        }
    }

    @Test func `the samples of the YTKNetwork guide run`() async throws {
        server.route(.post, "/users", answering: .json(#"{"id":7,"name":"seven"}"#, status: 201))
        server.route(.get, "/users/7", answering: .json(#"{"id":7,"name":"seven"}"#))
        server.route(.get, "/films/7.mov", answering: .text("film"))
        try await withService { service in
            let accounts = YTKNetworkSamples.AccountAPI(client: try YTKNetworkSamples.setUp(service))

            #expect(try await accounts.register("seven", "secret").id == 7)
            let shown = Locked<[Bool]>([])
            for _ in 0..<2 {
                try await YTKNetworkSamples.cached(accounts, token: "t", isRefresh: false) { _, isFromCache in
                    shown.withLock { $0.append(isFromCache) }
                }
            }
            #expect(shown.withLock { $0 } == [false, true, false])
            let report = await YTKNetworkSamples.batch(accounts, [7, 8], on: queue)
            #expect(report.values.map(\.id) == [7] && report.results.count == 2)
            #expect(await YTKNetworkSamples.chain(accounts, on: queue).members == [.succeeded, .succeeded])
            let film = try await YTKNetworkSamples.download(accounts, to: folder.appendingPathComponent("7.mov"))
            #expect(try String(contentsOf: film.url, encoding: .utf8) == "film")
            let target = try #require(server.requests.first?.target)
            #expect(target.contains("platform=ios") && target.contains("version=2.1") && target.contains("time="))
        }
    }

    @Test func `an accessory in the YTKNetwork guide runs before and after the callbacks`() async throws {
        server.route(.get, "/users/7", answering: .json(#"{"id":7,"name":"seven"}"#))
        try await withService { service in
            let accounts = YTKNetworkSamples.AccountAPI(client: try NetworkClient(service: service))
            let (steps, shown) = AsyncStream.makeStream(of: String.self)

            let request = YTKNetworkSamples.accessory(accounts, on: queue) { step in
                shown.yield(step)
                if step == "idle" { shown.finish() }
            }

            #expect(await steps.reduce(into: []) { $0.append($1) } == ["busy", "seven", "idle"])
            #expect(request.state == .finished)
        }
    }

    @Test func `the samples of the Alamofire guide run`() async throws {
        server.route(.get, "/topics") { request in
            guard request.headers["X-Version"] == "2", request.headers["Authorization"] == "Bearer new" else {
                return LoopbackResponse(status: 401)
            }
            let query = request.queryItems.map { "\($0.name)=\($0.value ?? "")" }
            let isRight = query.sorted() == ["tags[]=a", "tags[]=b", "words=swift"]
            return isRight ? .json(#"[{"id":1,"title":"one"}]"#) : LoopbackResponse(status: 400)
        }
        server.route(.post, "/topics", answering: .json(#"{"fields":{"title":"It is empty."}}"#, status: 422))
        server.route(.post, "/token", answering: .json(#"{"accessToken":"new","refreshToken":"next"}"#))
        server.route(.get, "/ticks", answering: .text("{\"price\":1.5}\n{\"price\":2}\n"))
        server.route(.get, "/report", answering: .text("report"))
        try await withService { service in
            var options = NetworkClient.Options()
            AlamofireSamples.interceptors(&options, version: "2")
            let credentials = AlamofireSamples.credentials(&options)
            credentials.set(.bearer("old", refreshToken: "first"), in: .test)
            let client = try NetworkClient(service: service, options: options)
            let forum = AlamofireSamples.ForumAPI(client: client)

            #expect(try await forum.search(.init(words: "swift", tags: ["a", "b"])).map(\.id) == [1])
            #expect(server.requests.filter { $0.path == "/token" }.map(\.text) == ["refresh_token=first"])
            var prices: [Double] = []
            try await AlamofireSamples.stream(client) { prices.append($0.price) }
            #expect(prices == [1.5, 2])
            var words: [String] = []
            await AlamofireSamples.errors(forum) { words.append($0) }
            #expect(words == ["It is empty."])
            let report = try await AlamofireSamples.download(client, to: folder.appendingPathComponent("reports"))
            #expect(report.lastPathComponent.hasPrefix("new-report"))
        }
    }

    @Test func `the samples of the Moya guide run`() async throws {
        server.route(.get, "/topics") { request in
            request.headers["Authorization"] == "Bearer secret"
                ? .json(#"{"data":{"items":[{"id":1,"title":"one"}]}}"#) : LoopbackResponse(status: 401)
        }
        try await withService { service in
            var options = NetworkClient.Options()
            let lines = Locked<[String]>([])
            MoyaSamples.plugins(
                &options,
                token: "secret",
                log: ClosureSink { entry in lines.withLock { $0.append(entry.message) } },
                show: { _ in }
            )
            let forum = MoyaSamples.ForumAPI(client: try NetworkClient(service: service, options: options))

            #expect(try await MoyaSamples.stub(service) == [Topic(id: 1, title: "one")])
            #expect(try await MoyaSamples.map(forum) == ["one", "one"])
        }
    }

    @Test func `calls that share a transfer in the Moya guide get the same value`() async throws {
        server.route(.get, "/topics", answering: .json(#"[{"id":1,"title":"one"}]"#))
        try await withService { service in
            let forum = MoyaSamples.ForumAPI(client: try NetworkClient(service: service))

            let (one, other) = try await MoyaSamples.share(forum)

            #expect(one == other && one.count == 1)
        }
    }
}
