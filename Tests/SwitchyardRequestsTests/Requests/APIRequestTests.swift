import Dispatch
import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

@testable import SwitchyardRequests

#if canImport(Combine)
    import Combine
#endif

/// Request objects (a request object uses the same path as every other call).
@Suite(.timeLimit(.minutes(5)), .prompt) struct APIRequestTests {
    private static let queue = DispatchQueue(label: "request-tests")

    private func topics(_ answer: @escaping @Sendable (HTTPRequest) -> StubResponse) throws -> (TopicAPI, StubTransport)
    {
        let transport = StubTransport(answer)
        return (TopicAPI(client: try .stubbed(transport)), transport)
    }

    private func request(_ topics: TopicAPI, lifetime: Duration? = nil) -> APIRequest<Topic> {
        topics.request(Topic.self, for: TopicAPI.topic(1, lifetime: lifetime), on: Self.queue)
    }

    @Test func `a request object is not sent before it is started`() async throws {
        let (topics, transport) = try topics { _ in Topic.answer }
        let request = request(topics)

        #expect(request.state == .initialized)
        #expect(transport.requestCount == 0)
        let value = try await request.value()

        #expect(value == Topic(id: 1, title: "one"))
        #expect(request.state == .finished)
        #expect(transport.requestCount == 1)
    }

    @Test func `a request object shows its state, and a cancelled request stays cancelled`() async throws {
        let (topics, transport) = try topics { _ in .never }
        let request = request(topics)
        request.resume()
        #expect(await transport.waitForRequests(1))
        #expect(request.isExecuting)

        request.cancel()

        #expect(request.isCancelled)
        #expect(await request.end() == .cancelled)
        #expect(request.isCancelled && !request.isExecuting)
    }

    @Test func `repeated and chained requests use the callback queue of the first request`() throws {
        let (topics, _) = try topics { _ in .never }
        let request = request(topics)

        #expect(request.repeated().repeated().queue === request.queue)
        #expect(request.chained { _ in .useThis }.queue === request.queue)
    }

    @Test func `the module's error format and messages apply if a hook or a filter refuses a call or its response`()
        async throws
    {
        struct Refusal: CallHook {
            func shouldCall(_ configuration: APIConfiguration) -> Bool { false }
        }
        struct NotGood: Error {}
        let formatted = Locked(0)
        var module = APIModule()
        module.messages = ErrorMessages(languages: [.english])
        for code in [APIError.Code.failed, APIError(.security(.forbidden(""))).code] {
            module.messages.set("Not like this.", for: code, in: .english)
        }
        module.formatError = { error in
            formatted.withLock { $0 += 1 }
            return error
        }
        let client = try NetworkClient.stubbed(StubTransport { _ in Topic.answer })
        let topics = TopicAPI(client: client, module: module)
        let refused = request(topics).adding(Refusal())
        let filtered = request(topics).filtering { _ in throw NotGood() }

        await #expect(throws: APIError.self) { try await refused.value() }
        await #expect(throws: APIError.self) { try await filtered.value() }

        for request in [refused, filtered] {
            guard case .failure(let error) = request.outcome else { return _ = Issue.record("no failure") }
            #expect(error.message == "Not like this.")
        }
        #expect(formatted.withLock { $0 } == 2)
    }

    @Test func `a request that is suspended after its start is still executing`() async throws {
        let (topics, transport) = try topics { _ in .never }
        let request = request(topics)
        request.suspend()
        #expect(!request.isExecuting)
        request.resume()
        #expect(await transport.waitForRequests(1))

        request.suspend()

        #expect(request.state == .suspended && request.isExecuting)
        request.cancel()
    }

    @Test func `a request that is suspended before its start is not sent`() async throws {
        let (topics, transport) = try topics { _ in Topic.answer }
        let request = request(topics)

        #expect(request.suspend())
        #expect(request.state == .suspended)
        #expect(transport.requestCount == 0)
        #expect(request.resume())

        #expect(try await request.value().id == 1)
    }

    @Test func `a suspended request calls no handler before it is resumed`() async throws {
        let gate = Gate()
        let diary = Diary()
        let request = APIRequest<Int>.gated(1, gate, on: Self.queue).onSuccess { _ in diary.write("success") }
        request.resume()
        await gate.waitForArrivals(1)

        request.suspend()
        gate.open()
        // The value has arrived when the later operation has run.
        _ = try await APIRequest<Int>.ready(2, on: Self.queue).value()
        #expect(diary.entries == [])
        #expect(request.state == .suspended)
        request.resume()

        #expect(await request.end() == .succeeded)
        #expect(diary.entries == ["success"])
    }

    @Test func `a request that is suspended after its response calls no handler before it is resumed`()
        async throws
    {
        let diary = Diary()
        let holder = Holder()
        let request = APIRequest<Int>(APIConfiguration(), on: Self.queue) { _, _, completion in
            completion(.success(APIResponse(value: 1, status: 200)))
            // Suspends while the response waits for this queue.
            holder.suspend()
            return {}
        }
        holder.request.withLock { $0 = request }
        request.onSuccess { _ in diary.write("success") }
        request.resume()
        await withCheckedContinuation { continuation in request.queue.async { continuation.resume() } }
        await withCheckedContinuation { continuation in request.queue.async { continuation.resume() } }

        #expect(request.state == .suspended)
        #expect(diary.entries == [])
        request.resume()

        #expect(await request.end() == .succeeded)
        #expect(diary.entries == ["success"])
    }

    @Test func `cancelling a suspended or unstarted request cancels it`() async throws {
        let (topics, transport) = try topics { _ in Topic.answer }
        let unsent = request(topics)
        let suspended = request(topics)
        suspended.suspend()

        unsent.cancel()
        suspended.cancel()

        #expect(await unsent.end() == .cancelled)
        #expect(await suspended.end() == .cancelled)
        #expect(!unsent.resume() && !suspended.resume())
        #expect(transport.requestCount == 0)
    }

    @Test func `starting a request object a second time has no effect, also from many threads`() async throws {
        let (topics, transport) = try topics { _ in Topic.answer }
        let request = request(topics)

        let starts = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { request.resume() } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }

        #expect(starts == 1)
        #expect(try await request.value().id == 1)
        #expect(transport.requestCount == 1)
    }

    @Test func `with startsRequestsWithFirstHandler, a request starts when its first handler is added`() async throws {
        let (topics, transport) = try topics { _ in Topic.answer }
        topics.client.startsRequestsWithFirstHandler = true
        let manual = topics.request(Topic.self, for: TopicAPI.topic(1), startsWithFirstHandler: false)
        manual.onSuccess { _ in }
        #expect(manual.state == .initialized)

        let automatic = topics.request(Topic.self, for: TopicAPI.topic(2), on: Self.queue)
        let value = await withCheckedContinuation { continuation in
            automatic.onSuccess { continuation.resume(returning: $0.id) }
        }

        #expect(value == 1)
        #expect(transport.requestCount == 1)
    }

    @Test func `handlers that are added after the end are called with the stored outcome`() async throws {
        let (topics, transport) = try topics { _ in Topic.answer }
        let request = request(topics)
        _ = try await request.value()

        for _ in 0..<2 {
            let id = await withCheckedContinuation { continuation in
                request.onSuccess { continuation.resume(returning: $0.id) }
            }
            #expect(id == 1)
        }
        #expect(transport.requestCount == 1)
    }

    @Test func `a handler of a request object is not called after the handler's owner was released`() async throws {
        let diary = Diary()
        let request = APIRequest<Int>.ready(1, on: Self.queue)
        do {
            let owner = Diary()
            request.onSuccess(for: owner) { _, _ in diary.write("called") }
            request.onFinish(for: owner) { _, _ in diary.write("called") }
        }

        _ = try await request.value()

        #expect(diary.entries == [])
    }

    @Test func `a handler of a request object receives its owner while the owner is alive`() async throws {
        let owner = Diary()
        let request = APIRequest<Int>.ready(1, on: Self.queue)
        request.onSuccess(for: owner) { $0.write("value \($1)") }
        request.onFinish(for: owner) { diary, outcome in diary.write("status \((try? outcome.get())?.status ?? 0)") }

        _ = try await request.value()

        #expect(owner.entries == ["value 1", "status 200"])
    }

    @Test func `only the states cancelled and finished of a request are final`() {
        #expect(RequestState.allCases.filter(\.isTerminal) == [.cancelled, .finished])
    }

    @Test func `an active request keeps itself alive and releases its handlers at the end`() async throws {
        let gate = Gate()
        weak var request: APIRequest<Int>?
        weak var captured: Diary?
        await withCheckedContinuation { continuation in
            let made = APIRequest<Int>.gated(1, gate, on: Self.queue)
            let diary = Diary()
            (request, captured) = (made, diary)
            made.onSuccess { _ in diary.write("called") }
            made.whenEnded { _ in continuation.resume() }
            made.resume()
            gate.open()
        }

        await until { request == nil && captured == nil }
    }

    @Test func `a request is cancelled when its manager is released`() async throws {
        let transport = StubTransport { _ in .never }
        var topics: TopicAPI? = TopicAPI(client: try .stubbed(transport))
        let request = try #require(topics?.request(Topic.self, for: TopicAPI.topic(1), on: Self.queue))
        let unsent = try #require(topics?.request(Topic.self, for: TopicAPI.topic(2), on: Self.queue))
        request.resume()
        #expect(await transport.waitForRequests(1))

        topics = nil

        #expect(await request.end() == .cancelled)
        unsent.resume()
        #expect(await unsent.end() == .cancelled)
        #expect(transport.requestCount == 1)
    }

    @Test func `the ID of a request object exists before the start and is the ID of the sent request`()
        async throws
    {
        let (topics, transport) = try topics { _ in .never }
        let request = request(topics)
        request.resume()
        #expect(await transport.waitForRequests(1))

        #expect(topics.activeRequests == [request.id])
        topics.cancel(request.id)

        #expect(await request.end() == .cancelled)
        #expect(topics.activeRequests == [])
    }

    @Test func `an error of a preprocessor has the context of the response`() async throws {
        struct Unfit: Error {}
        let (topics, _) = try topics { _ in Topic.answer }
        let request = request(topics).preprocessing { _ in throw Unfit() }

        let error = await #expect(throws: APIError.self) { try await request.value() }

        #expect(error?.context.underlying is Unfit)
        #expect(error?.context.status == 200 && error?.context.server == "primary")
        #expect(error?.context.requestID == request.id)
    }

    @Test func `a failed download in a request object keeps its error reason`() async throws {
        let client = try NetworkClient.stubbed(StubTransport { _ in .status(404) })
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let film = DownloadConfiguration(path: "film", to: .file(folder.url.appendingPathComponent("film")))
        let request = APIRequest(on: Self.queue) { try await client.download(film) }

        await #expect(throws: APIError(.status(404))) { try await request.value() }
    }

    @Test func `a request object provides the status, header fields and context of its response`() async throws {
        let (topics, _) = try topics { _ in
            .status(201, headers: ["X-Trace": "7"], body: Data(#"{"id":1,"title":"one"}"#.utf8))
        }
        let request = request(topics)
        _ = try? await request.value()

        let response = try #require(request.response)
        #expect(response.status == 201)
        #expect(response.headers["X-Trace"] == "7")
        #expect(response.context?.url?.text == "http://release.example/v1/topics/1")
        #expect(request.configuration.path == "topics/1")
    }

    @Test func `the progress updates of a request object end with the request`() async throws {
        let (topics, _) = try topics { _ in Topic.answer }
        let request = request(topics)
        let updates = request.progressUpdates()
        request.resume()

        var reports: [TransferProgress] = []
        for await report in updates { reports.append(report) }

        #expect(reports.last?.fraction == 1)
        #expect(request.state == .finished)
    }

    @Test func `values are not decoded on the request's queue`() async throws {
        let (topics, _) = try topics { _ in .json("{}") }
        Self.queue.setSpecific(key: Place.key, value: true)
        let request = topics.request(Place.self, for: APIConfiguration(path: "place"), on: Self.queue)

        #expect(try await request.value().wasOnQueue == false)
    }

    #if canImport(Combine)
        @Test func `the publisher of a request object starts the request and publishes its value`() async throws {
            let request = APIRequest<Int>.ready(1, on: Self.queue)

            var values: [Int] = []
            for try await value in request.publisher.values { values.append(value) }

            #expect(values == [1])
        }
    #endif
}

/// A value that records whether it was decoded on the queue.
private struct Place: Decodable, Sendable {
    static let key = DispatchSpecificKey<Bool>()

    let wasOnQueue: Bool

    init(from decoder: any Decoder) {
        wasOnQueue = DispatchQueue.getSpecific(key: Self.key) == true
    }
}

/// Holds a request that is created later.
private final class Holder: Sendable {
    let request = Locked<APIRequest<Int>?>(nil)

    func suspend() {
        request.withLock { $0 }?.suspend()
    }
}
