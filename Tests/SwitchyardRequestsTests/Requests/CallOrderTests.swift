import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

/// The order of all callbacks of a request, as YTKNetwork and RTNetworking document their callbacks.
///
/// The queue of the callbacks is checked too.
@Suite(.timeLimit(.minutes(5)), .prompt) struct CallOrderTests {
    private static let queue = DispatchQueue(label: "order-tests")
    private static let onQueue = DispatchSpecificKey<Bool>()
    private let diary = Diary()

    init() {
        Self.queue.setSpecific(key: Self.onQueue, value: true)
    }

    private final class Listener: APIRequestDelegate {
        let diary: Diary

        init(diary: Diary) { self.diary = diary }

        func requestDidFinish(_ id: RequestID) { diary.write("delegate finished") }
        func request(_ id: RequestID, didFailWith error: APIError) { diary.write("delegate failed") }
        func requestWasCancelled(_ id: RequestID) { diary.write("delegate cancelled") }
    }

    private final class SilentListener: APIRequestDelegate {}

    private struct DiaryHook: CallHook {
        let diary: Diary
        var refusesCall = false
        var vetoesSuccess = false

        func transform(_ configuration: inout APIConfiguration) {
            configuration.query["page"] = 1
            diary.write("transform")
        }

        func shouldCall(_ configuration: APIConfiguration) -> Bool {
            diary.write("should call")
            return !refusesCall
        }

        func didCall(_ id: RequestID) { diary.write("did call") }

        func beforeSuccess(_ id: RequestID, _ answer: APIResponse<Void>) -> Bool {
            diary.write("before success")
            return !vetoesSuccess
        }

        func afterSuccess(_ id: RequestID, _ answer: APIResponse<Void>) { diary.write("after success") }
        func beforeFailure(_ id: RequestID, _ error: APIError) { diary.write("before failure") }
        func afterFailure(_ id: RequestID, _ error: APIError) { diary.write("after failure") }
    }

    /// A request with every kind of callback attached.
    private func request(_ topics: TopicAPI, _ listener: Listener, lifetime: Duration? = nil) -> APIRequest<Topic> {
        let diary = diary
        let place: @Sendable () -> String = {
            DispatchQueue.getSpecific(key: Self.onQueue) == true ? "" : " in the background"
        }
        return topics.request(Topic.self, for: TopicAPI.topic(1, lifetime: lifetime), on: Self.queue)
            .adding(DiaryAccessory(diary: diary))
            .delegating(to: listener)
            .preprocessing { _ in diary.write("preprocessor\(place())") }
            .preprocessingFailure { _ in diary.write("failed preprocessor\(place())") }
            .filtering { _ in diary.write("filter\(place())") }
            .filteringFailure { _ in diary.write("failed filter\(place())") }
            .onSuccess { _ in diary.write("success\(place())") }
            .onFailure { _ in diary.write("failure\(place())") }
            .onCancel { diary.write("cancelled\(place())") }
            .onFinish { _ in diary.write("finished\(place())") }
    }

    private static let successOrder = [
        "accessory willStart", "preprocessor in the background", "accessory willStop", "filter", "delegate finished",
        "success", "finished", "accessory didStop",
    ]

    @Test func `callbacks of a successful request are called in the documented order`()
        async throws
    {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in Topic.answer }))
        let listener = Listener(diary: diary)
        let request = request(topics, listener)

        request.resume()
        _ = await request.end()

        #expect(diary.entries == Self.successOrder)
    }

    @Test func `callbacks of a stored response are called in the order of a successful request`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))
        _ = try await topics.topic(1, lifetime: .seconds(60))
        let listener = Listener(diary: diary)
        let request = request(topics, listener, lifetime: .seconds(60))

        request.resume()
        _ = await request.end()

        #expect(diary.entries == Self.successOrder)
        #expect(transport.requestCount == 1)
        #expect(request.response?.isFromCache == true)
    }

    @Test func `callbacks of a failed request are called in the documented order`() async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .status(500) }))
        let listener = Listener(diary: diary)
        let request = request(topics, listener)

        request.resume()
        _ = await request.end()

        #expect(
            diary.entries == [
                "accessory willStart", "failed preprocessor in the background", "accessory willStop", "failed filter",
                "delegate failed", "failure", "finished", "accessory didStop",
            ]
        )
    }

    @Test func `callbacks of a request that cannot be built are called in the same order`() async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .status(500) }))
        let listener = Listener(diary: diary)
        let request = topics.request(Topic.self, for: APIConfiguration(path: "a\r\nb"), on: Self.queue)
            .adding(DiaryAccessory(diary: diary))
            .delegating(to: listener)

        request.resume()
        _ = await request.end()

        #expect(
            diary.entries == [
                "accessory willStart", "accessory willStop", "delegate failed", "accessory didStop",
            ]
        )
    }

    @Test func `callbacks of a cancelled request are called once, in order and not as a failure`()
        async throws
    {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport))
        let listener = Listener(diary: diary)
        let request = request(topics, listener)
        request.resume()
        #expect(await transport.waitForRequests(1))

        request.cancel()
        _ = await request.end()

        #expect(
            diary.entries == [
                "accessory willStart", "accessory willStop", "delegate cancelled", "cancelled", "finished",
                "accessory didStop",
            ]
        )
        await until { transport.openExchanges == 0 }
        #expect(transport.openExchanges == 0)
    }

    @Test func `a request ends as cancelled if its manager cancels all calls`() async throws {
        let transport = StubTransport { _ in .never }
        let topics = TopicAPI(client: try .stubbed(transport))
        let listener = Listener(diary: diary)
        let request = request(topics, listener).adding(DiaryHook(diary: diary))
        request.resume()
        #expect(await transport.waitForRequests(1))

        topics.cancelAll()

        #expect(await request.end() == .cancelled)
        #expect(request.state == .cancelled)
        #expect(
            diary.entries == [
                "accessory willStart", "transform", "should call", "did call", "accessory willStop",
                "delegate cancelled", "cancelled", "finished", "accessory didStop",
            ]
        )
    }

    @Test func `cancelling an unstarted request ends it without calling accessories`() async throws {
        let topics = TopicAPI(client: try .stubbed(StubTransport { _ in .never }))
        let listener = Listener(diary: diary)
        let request = request(topics, listener)

        request.cancel()
        _ = await request.end()

        #expect(diary.entries == ["delegate cancelled", "cancelled", "finished"])
    }

    @Test func `the delegate of a request object may omit every method`() async throws {
        let listener = SilentListener()
        let request = APIRequest<Int>.ready(1, on: Self.queue).delegating(to: listener)

        #expect(try await request.value() == 1)
    }

    @Test func `hooks of a stubbed response are called in the documented order`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))
        let diary = diary
        let request = topics.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue)
            .adding(DiaryHook(diary: diary))
            .adding(DiaryAccessory(diary: diary))
            .onSuccess { _ in diary.write("success") }

        request.resume()
        _ = await request.end()

        #expect(
            diary.entries == [
                "accessory willStart", "transform", "should call", "did call", "accessory willStop", "before success",
                "success", "after success", "accessory didStop",
            ]
        )
        #expect(transport.requests.first?.url.text == "http://release.example/v1/topics/1?page=1")
    }

    @Test func `a hook can refuse a call, and can turn its success into a failure`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))
        let refused = topics.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue)
            .adding(DiaryHook(diary: diary, refusesCall: true))
        let vetoed = topics.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue)
            .adding(DiaryHook(diary: diary, vetoesSuccess: true))

        let refusal = await #expect(throws: APIError.self) { try await refused.value() }
        #expect(transport.requestCount == 0)
        let veto = await #expect(throws: APIError.self) { try await vetoed.value() }

        #expect(refusal?.reason == .security(.forbidden("a hook refused the call")))
        #expect(veto?.reason == .security(.forbidden("a hook rejected the response")))
    }

    @Test func `a request accessory can be made from closures`() async throws {
        let diary = diary
        let request = APIRequest<Int>(tags: ["first"], on: Self.queue) { 1 }
            .adding(
                ClosureAccessory(
                    willStart: { diary.write("start \($0.kind) \($0.tags.sorted())") },
                    didStop: { _ in diary.write("stop") }
                )
            )

        _ = try await request.value()

        #expect(diary.entries == ["start request [\"first\"]", "stop"])
        #expect(request.accessories.isEmpty)
    }

    @Test func `a request can be started again from its own failure handler`() async throws {
        let transport = StubTransport(answers: [.status(503), Topic.answer])
        let topics = TopicAPI(client: try .stubbed(transport))
        let first = topics.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue)

        let id = await withCheckedContinuation { continuation in
            first.onFailure { [first] _ in
                first.repeated().onSuccess { continuation.resume(returning: $0.id) }.resume()
            }
            first.resume()
        }

        #expect(id == 1)
        #expect(first.state == .finished)
        #expect(transport.requestCount == 2)
    }

    @Test func `a request whose filter throws CancellationError ends as cancelled`() async {
        let diary = diary
        let request = APIRequest<Int>.ready(1, on: Self.queue)
            .adding(DiaryHook(diary: diary))
            .filtering { _ in throw CancellationError() }

        let error = await #expect(throws: APIError.self) { try await request.value() }

        #expect(error?.isCancellation == true)
        #expect(request.state == .cancelled)
        #expect(diary.entries.filter { $0.hasPrefix("after") } == [])
    }

    @Test func `a request that is started again does not report progress to the handlers of the first run`()
        async throws
    {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))
        let diary = diary
        let first = topics.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue)
            .onProgress { _ in diary.write("progress") }

        _ = try await first.repeated().value()

        #expect(diary.entries == [])
    }

    @Test func `a request that is started again keeps the accessories, hooks and filters of the first run`()
        async throws
    {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))
        let diary = diary
        let first = topics.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue)
            .adding(DiaryHook(diary: diary))
            .adding(DiaryAccessory(diary: diary))
            .preprocessing { $0.value.title += " and" }
            .filtering { $0.value.title += " only" }
            .onSuccess { _ in diary.write("success") }
        let once = try await first.value()
        let entries = diary.entries

        let again = try await first.repeated().value()

        #expect(once.title == "one and only")
        #expect(again == once)
        #expect(diary.entries == entries + entries.filter { $0 != "success" })
        #expect(transport.requests.map(\.url.query) == ["page=1", "page=1"])
    }

    @Test func `cancelling a finished request in any of its callbacks has no effect`() async throws {
        let diary = diary
        let request = APIRequest<Int>.ready(1, on: Self.queue)
        request
            .adding(ClosureAccessory(willStop: { _ in request.cancel() }, didStop: { _ in request.cancel() }))
            .filtering { _ in request.cancel() }
            .onSuccess { _ in
                diary.write("success")
                request.cancel()
            }
            .onFinish { _ in request.cancel() }

        #expect(try await request.value() == 1)
        #expect(diary.entries == ["success"])
        #expect(request.state == .finished)
    }

    @Test func `a request that its first accessory cancels is not sent`() async throws {
        let transport = StubTransport { _ in Topic.answer }
        let topics = TopicAPI(client: try .stubbed(transport))
        let request = topics.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue)
        request.adding(ClosureAccessory(willStart: { _ in request.cancel() }))

        request.resume()

        #expect(await request.end() == .cancelled)
        #expect(transport.openExchanges == 0)
    }

    @Test func `a request that a rule sends without credentials continues after a logout`() async throws {
        let credentials = Credentials { _ in nil }
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in Topic.answer }
        client.rules.add("/**") { $0.usesCredentials = false }
        credentials.set(.bearer("ada"), in: client.environment)
        let topics = TopicAPI(client: client)
        let request = topics.request(Topic.self, for: TopicAPI.topic(1), on: .global())

        credentials.logOut(in: client.environment)

        #expect(try await request.value().id == 1)
    }
}
