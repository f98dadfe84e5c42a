import Dispatch
import Switchyard
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The library in an app with the main actor as its default isolation.
///
/// Row S6; rule 8 of the user requirements.
@Suite(.timeLimit(.minutes(20))) struct MainActorTests {
    nonisolated private static let one = StubResponse.json(#"{"code": 0, "data": {"id": 1, "title": "one"}}"#)

    private static func api(_ answer: @escaping @Sendable (HTTPRequest) -> StubResponse) throws -> TopicAPI {
        let service = try Service(
            name: "topics",
            servers: [Server(name: "primary", baseURLs: ["test": ServerURL("http://test.example/v1")])],
            defaultEnvironment: "test"
        )
        return try TopicAPI(client: NetworkClient(service: service, transport: StubTransport(answer)))
    }

    @Test func `a screen on the main actor shows the topics that its manager loads`() async throws {
        let screen = TopicScreen(
            topics: try Self.api { _ in
                .json(#"{"code": 0, "data": [{"id": 1, "title": "one"}, {"id": 2, "title": "two"}]}"#)
            }
        )

        await screen.refresh()

        #expect(screen.titles == ["one", "two"])
        #expect(screen.message == nil)
    }

    @Test func `a completion handler of a manager on the main actor runs on the main actor`() async throws {
        let screen = TopicScreen(topics: try Self.api { _ in Self.one })

        await withCheckedContinuation { continuation in
            _ = screen.load(1) { continuation.resume() }
        }

        #expect(screen.titles == ["one"])
    }

    @Test func `models are decoded outside the main actor`() async throws {
        DispatchQueue.main.setSpecific(key: Topic.mainQueue, value: true)
        let api = try Self.api { _ in Self.one }

        #expect(DispatchQueue.getSpecific(key: Topic.mainQueue) == true)
        #expect(try await !api.topic(1).isOfMainQueue)
    }

    @Test func `a response is decoded while the main actor is blocked`() async throws {
        // Other tests need the main actor too, so it is blocked only for the duration of a request.
        try await calm()
        let decoded = DispatchSemaphore(value: 0)
        let api = try Self.api { _ in Self.one }
        _ = api.value(Topic.self, for: APIConfiguration(path: "topics/1"), on: .global()) { _ in decoded.signal() }

        #expect(Self.block(on: decoded) == .success)
    }

    /// Blocks the thread until a signal, for a limited time.
    private static func block(on semaphore: DispatchSemaphore) -> DispatchTimeoutResult {
        semaphore.wait(timeout: .now() + 30)
    }

    @Test func `a response with an error code of the module is thrown as that code`() async throws {
        let api = try Self.api { _ in .json(#"{"code": 404, "message": "gone"}"#) }

        let error = await #expect(throws: APIError.self) { try await api.topic(1) }

        #expect(error?.module(TopicError.self) == .topicNotFound)
    }
}
