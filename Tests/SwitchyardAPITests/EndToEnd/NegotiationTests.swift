import Foundation
import SwitchyardClient
import SwitchyardDiskCache
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardMarkup
import SwitchyardResources
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardAPI

/// The serializer of a call determines the Accept field of the request.
@Suite(.timeLimit(.minutes(5)), .prompt) struct NegotiationTests {
    private static let list = #"<?xml version="1.0"?><plist version="1.0"><array><integer>1</integer></array></plist>"#

    /// A server with a response of each type that selects by the Accept field and refuses other types.
    private func yard(varies: Bool = true) throws -> LoopbackYard {
        let yard = try LoopbackYard()
        let forms = [
            ("application/json", #"{"id":1,"title":"one"}"#), ("application/xml", "<t>one</t>"),
            ("application/x-plist", Self.list), ("text/plain", "one"), ("image/png", "pixels"),
        ]
        yard.server.route(nil, "/v1/*") { request in
            let wanted = (request.headers["Accept"] ?? "*/*").prefix { $0 != "," && $0 != ";" }
            let form = forms.first { type, _ in
                wanted == "*/*" || wanted == type || wanted == "\(type.prefix { $0 != "/" })/*"
            }
            guard let form else { return .status(406) }
            var headers: HTTPHeaders = ["Content-Type": form.0, "Cache-Control": "max-age=600"]
            if varies { headers.add("Vary", "Accept") }
            return .status(200, headers: headers, body: Data(form.1.utf8))
        }
        return yard
    }

    private let call = APIConfiguration(path: "topics/1")

    @Test func `the Accept field of a call lists the types that its serializer accepts`() async throws {
        let yard = try yard()
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)

        #expect(try await topics.value(Topic.self, for: call).title == "one")
        #expect(try await topics.response(for: call, with: .json).value["title"] == "one")
        #expect(try await topics.response(for: call, with: .xml).value.name == "t")
        #expect(try await topics.response(for: call, with: .propertyList([Int].self)).value == [1])
        #expect(try await topics.response(for: call, with: .string).value == "one")
        #expect(try await topics.response(for: call, with: .image { $0.count }).value == 6)
        #expect(try await topics.response(for: call, with: .data).value.isEmpty == false)
        try await topics.send(call)

        #expect(
            yard.server.requests.map { $0.headers["Accept"] } == [
                "application/json", "application/json", "application/xml, text/xml",
                "application/x-plist, application/xml, text/xml", "text/plain, text/*;q=0.9, */*;q=0.5", "image/*",
                "*/*", "*/*",
            ]
        )
    }

    @Test func `the Accept field of a call without a serializer allows any type`() async throws {
        let yard = try yard()
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)

        _ = try await yard.client.send(call)
        _ = try await yard.client.stream(call).bytes.collect(upTo: 1_000)
        let file = try await topics.download(DownloadConfiguration(call))
        try FileManager.default.removeItem(at: file.url)
        _ = try await yard.client.upload(UploadConfiguration(path: "x", from: .data(Data([1]))))
        let uploaded: Topic = try await topics.upload(UploadConfiguration(path: "x", from: .data(Data([1]))))
        #expect(try yard.client.request(for: call).headers["Accept"] == "*/*")

        #expect(uploaded.id == 1)
        #expect(yard.server.requests.map { $0.headers["Accept"] } == ["*/*", "*/*", "*/*", "*/*", "application/json"])
    }

    @Test func `an Accept field that the app sets is sent unchanged`() async throws {
        let transport = StubTransport { _ in .json(#"{"id":1,"title":"one"}"#) }
        let own = "application/vnd.topic+json"
        var options = NetworkClient.Options()
        options.generator.common.headers.set("Accept", own)
        options.rules.add("/ruled") { $0.headers = [.accept("text/x")] }
        let common = TopicAPI(client: try .stubbed(transport, options: options))
        options.generator = RequestGenerator(headers: ["X-App": "demo"])
        options.generator.common.computedHeaders = { _ in ["Accept": "text/y"] }
        let computed = TopicAPI(client: try .stubbed(transport, options: options))
        options.generator = RequestGenerator(headers: ["X-App": "demo"])
        let bare = TopicAPI(client: try .stubbed(transport, options: options))
        var call = self.call
        call.headers = [.accept("text/z")]

        _ = try await common.value(Topic.self, for: self.call)
        _ = try await common.value(Topic.self, for: APIConfiguration(path: "ruled"))
        _ = try await common.value(Topic.self, for: call)
        _ = try await computed.value(Topic.self, for: self.call)
        _ = try await bare.value(Topic.self, for: call)
        _ = try await bare.value(Topic.self, for: self.call)
        _ = try await bare.client.send(self.call)

        let accepted = transport.requests.map { $0.headers.values(of: "Accept") }
        #expect(accepted == [[own], ["text/x"], ["text/z"], ["text/y"], ["text/z"], ["application/json"], []])
    }

    @Test func `if a call has several serializers, its Accept field lists the types that each of them accepts`() {
        let (xml, json) = (ResponseSerializer<XMLTree>.xml, ResponseSerializer<JSONValue>.json)
        let mixed = ResponseSerializer<String>.first(of: [xml.map { $0.name }, json.map { "\($0)" }, .string])
        let open = ResponseSerializer<Data>.first(of: [.image { $0 }, .data])
        let own = ResponseSerializer(accepting: ["*/*+json", "text/csv"].compactMap { MediaType($0) }) { $0.data }

        #expect(
            mixed.accept == "application/xml, text/xml, application/json, text/plain, text/*;q=0.9, */*;q=0.5"
        )
        #expect(open.accept == "image/*, */*;q=0.5")
        #expect(own.accept == "text/csv")
        #expect(ResponseSerializer.string.keepingData.map { $0.value }.accept == ResponseSerializer.string.accept)
        #expect(ResponseSerializer<Data>.first(of: []).accept == nil)
    }

    @Test(arguments: [CachePolicy.Freshness.lifetime, .http])
    func `a response that varies by Accept is stored separately for each serializer`(
        freshness: CachePolicy.Freshness
    ) async throws {
        let yard = try yard()
        defer { yard.stop() }
        let folder = TemporaryFolder()
        var call = self.call
        call.cacheLifetime = .seconds(600)
        call.cache.freshness = freshness
        for run in 1...2 {
            let client = try yard.client(of: "topics")
            let disk = try DiskCache(at: folder.url)
            client.responseCache = ResponseCache(disk: disk, time: yard.clock)
            let topics = TopicAPI(client: client)

            #expect(try await topics.value(Topic.self, for: call).title == "one")
            #expect(try await topics.response(for: call, with: .string).value == "one")
            let again = try await topics.response(for: call, with: .string)
            #expect(again.value == "one" && again.isFromCache)
            #expect(try await topics.response(for: call, with: .xml).value.name == "t")
            await disk.flush()
            #expect(yard.server.requests.count == run * 3)
        }
    }

    @Test func `a stored response that does not vary by Accept is shared by matching serializers`() async throws {
        let yard = try yard(varies: false)
        defer { yard.stop() }
        let folder = TemporaryFolder()
        yard.client.responseCache = ResponseCache(disk: try DiskCache(at: folder.url), time: yard.clock)
        let topics = TopicAPI(client: yard.client)
        var call = self.call
        call.cacheLifetime = .seconds(600)

        _ = try await topics.value(Topic.self, for: call)

        #expect(try await topics.response(for: call, with: .data).isFromCache)
        #expect(try await !topics.response(for: call, with: .xml).isFromCache)
        topics.removeResponse(for: call)
        #expect(try await !topics.response(for: call, with: .xml).isFromCache)
    }

    @Test func `calls with different serializers do not share a request`() async throws {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport))
        var call = self.call
        call.sharing = .identical
        let tasks = [
            Task { [call] in _ = try? await topics.value(Topic.self, for: call) },
            Task { [call] in _ = try? await topics.response(for: call, with: .string) },
            Task { [call] in _ = try? await topics.response(for: call, with: .xml) },
        ]

        #expect(await transport.waitForRequests(3))

        topics.client.cancelAll()
        for task in tasks { await task.value }
    }

    @Test func `calls with different serializers have separate resources`() throws {
        let yard = try yard()
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)
        let shout = ResponseSerializer<String>(accepting: [MediaType("text/x")].compactMap(\.self)) { _ in "X" }

        let (first, second) = (topics.resource(for: call, with: .string), topics.resource(for: call, with: shout))

        #expect(first !== second)
        #expect(first === topics.resource(for: call, with: .string))
    }
}
