import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Managers over real sockets.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LoopbackAPITests {
    /// A server of topics with a client.
    private struct Yard {
        let server = LoopbackServer()
        let client: NetworkClient

        init() throws {
            server.route(.get, "/v1/topics") { request in .json(Self.page(request.target)) }
            server.route(.get, "/v1/topics/*", answering: .json(#"{"id":7,"title":"seven"}"#))
            try server.start()
            let url = try ServerURL("http://127.0.0.1:\(server.port)/v1")
            let service = try Service(
                name: "topics",
                servers: [Server(name: "primary", baseURLs: ["test": url])],
                defaultEnvironment: "test",
                switching: .off
            )
            client = try NetworkClient(service: service)
        }

        /// Five topics with two on each page.
        private static func page(_ path: String) -> String {
            let items = URLComponents(string: path)?.queryItems
            let page = items?.first { $0.name == "page" }.flatMap { $0.value.flatMap { Int($0) } } ?? 1
            let ids = (1...5).dropFirst((page - 1) * 2).prefix(2)
            return "[" + ids.map { #"{"id":\#($0),"title":"topic \#($0)"}"# }.joined(separator: ",") + "]"
        }

        func stop() {
            client.shutdown()
            server.stop()
        }
    }

    private static func error(_ yard: Yard, answering response: LoopbackResponse) async throws -> APIError {
        yard.server.route(.get, "/v1/topics/*", answering: response)
        let topics = TopicAPI(client: yard.client)
        return try #require(await #expect(throws: APIError.self) { try await topics.topic(7) })
    }

    @Test func `a list is loaded page by page to its end`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)

        #expect(try await topics.refreshTopics().map(\.id) == [1, 2])
        #expect(try await topics.loadMoreTopics().map(\.id) == [3, 4])
        #expect(try await topics.loadMoreTopics().map(\.id) == [5])
        await #expect(throws: APIError(.list(.noMoreData))) { try await topics.loadMoreTopics() }
        let requests = yard.server.requests.count
        await #expect(throws: APIError(.list(.noMoreData))) { try await topics.loadMoreTopics() }
        #expect(yard.server.requests.count == requests)
        #expect(topics.pages.items.count == 5)
    }

    @Test func `a stored response is returned even if the server is stopped`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        let topics = TopicAPI(client: yard.client)
        let first = try await topics.topic(7, lifetime: .seconds(60))
        yard.server.stop()

        #expect(try await topics.topic(7, lifetime: .seconds(60)) == first)
    }

    @Test func `a refused connection is reported as not connected`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        yard.server.fault = .refuse

        let error = await #expect(throws: APIError.self) { try await TopicAPI(client: yard.client).topic(7) }
        #expect(error?.code == .notConnected)
    }

    @Test func `a server that hangs is reported as a timeout`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        yard.server.fault = .hang
        var configuration = TopicAPI.topic(7)
        configuration.timeout = .milliseconds(200)

        let topics = TopicAPI(client: yard.client)
        let error = await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: configuration) }
        #expect(error?.code == .timeout)
    }

    @Test func `a truncated response body is an error`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        yard.server.fault = .truncate(after: 5)

        let error = await #expect(throws: APIError.self) { try await TopicAPI(client: yard.client).topic(7) }
        #expect(error?.reason == .body(.truncated))
    }

    @Test func `an invalid response body is a typed error that names the problem and its place`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)

        let notJSON = try await Self.error(yard, answering: .json("<html>"))
        #expect(notJSON.reason == .body(.decoding(.init(.malformed(offset: 0)))))
        let cut = try await Self.error(yard, answering: .json(#"{"id":7,"title":"#))
        #expect(cut.reason == .body(.decoding(.init(.malformed(offset: 16)))))
        let shape = try await Self.error(yard, answering: .json(#"{"id":"7","title":"x"}"#))
        #expect(shape.reason == .body(.decoding(.init(.wrongType(expected: "Int"), keyPath: "id"))))
        let nested = try await Self.error(yard, answering: .json(deep))
        #expect(nested.reason == .body(.decoding(.init(.tooDeep(limit: JSONDepth.standard)))))
        let page = try await Self.error(yard, answering: .text("login please"))
        #expect(page.reason.isContentType)
        let refused = try await Self.error(yard, answering: .json("{}", status: 418))
        #expect(refused.reason == .status(418))
        #expect(refused.context.server == "primary")
        #expect(refused.context.body == Data("{}".utf8))
    }

    @Test func `a response body of 10 MB is rejected when it exceeds a limit of 1 kB`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        yard.server.route(.get, "/v1/topics/*", answering: .json(Data(count: 10_000_000)))
        var configuration = TopicAPI.topic(7)
        configuration.responseBodyLimit = 1_000

        let topics = TopicAPI(client: yard.client)
        let error = await #expect(throws: APIError.self) { try await topics.value(Topic.self, for: configuration) }
        #expect(error?.reason == .body(.tooLarge(limit: nil)))
    }

    @Test func `a call to a hanging server can be cancelled immediately`() async throws {
        let yard = try Yard()
        defer { yard.stop() }
        yard.server.fault = .hang
        let topics = TopicAPI(client: yard.client)
        let result: Result<Topic, APIError> = await withCheckedContinuation { continuation in
            let id = topics.value(Topic.self, for: TopicAPI.topic(7), on: .global()) {
                continuation.resume(returning: $0)
            }
            topics.cancel(id)
        }

        #expect(throws: APIError(.cancelled(.caller))) { try result.get() }
    }
}

extension APIError.Reason {
    /// Whether the content type was rejected.
    fileprivate var isContentType: Bool {
        if case .body(.contentType) = self { true } else { false }
    }
}
