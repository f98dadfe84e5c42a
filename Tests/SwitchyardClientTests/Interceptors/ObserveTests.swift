import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct ObserveTests {
    /// Completes a cancelled exchange only when `end` is called.
    private final class LateTransport: Transport, TransportTask {
        private let completion = Locked<(@Sendable (Result<HTTPResponse, TransportError>) -> Void)?>(nil)

        var hasStarted: Bool { completion.withLock { $0 != nil } }

        func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            self.completion.withLock { $0 = completion }
            return self
        }

        func cancel() {}

        func shutdown() {}

        func end() {
            completion.withLock { $0 }?(.failure(TransportError(.cancelled, message: "cancelled")))
        }
    }

    /// Completes immediately, before or after `start` returns, with handles that retain their completion.
    private final class KeepingTransport: Transport {
        private final class Handle: TransportTask {
            private let completion: @Sendable (Result<HTTPResponse, TransportError>) -> Void

            init(_ completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void) {
                self.completion = completion
            }

            func answer() { completion(.success(HTTPResponse(status: 200))) }

            func cancel() {}
        }

        private struct Last {
            weak var handle: Handle?
        }

        private let last = Locked(Last())
        private let isInline: Bool

        init(isInline: Bool) {
            self.isInline = isInline
        }

        var hasHandle: Bool { last.withLock { $0.handle != nil } }

        func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            let handle = Handle(completion)
            last.withLock { $0.handle = handle }
            if isInline { handle.answer() } else { DispatchQueue.global().async { handle.answer() } }
            return handle
        }

        func shutdown() {}
    }

    @Test(arguments: [false, true])
    func `an attempt that observers have received is released when its request ends`(isInline: Bool) async throws {
        let log = EventLog()
        let transport = KeepingTransport(isInline: isInline)
        var options = NetworkClient.Options(seed: 1)
        options.interceptors = [log.interceptor]
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, options: options)

        let answer = try await client.send(APIConfiguration(path: "x"))
        await until { !transport.hasHandle }

        #expect(answer.status == 200)
        #expect(!transport.hasHandle)
    }

    @Test func `the events of a plain request come in the documented order`() async throws {
        let log = EventLog()
        let (client, _) = try NetworkClient.stubbed(options: { $0.interceptors = [log.interceptor] }) { _ in
            .status(200)
        }

        _ = try await client.send(APIConfiguration(path: "x"))

        let tree = ["dispatched", "roundBegan", "attemptSent", "attemptEnded", "roundEnded", "ended"]
        #expect(await log.events(until: "ended") == tree)
    }

    @Test func `the last event of a cancelled attempt comes before the last event of its request`() async throws {
        let log = EventLog()
        let transport = LateTransport()
        var options = NetworkClient.Options(seed: 1)
        options.interceptors = [log.interceptor]
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport, options: options)
        let id = client.send(APIConfiguration(path: "x"), on: .global()) { _ in }
        await until { transport.hasStarted }

        client.cancel(id)
        transport.end()
        await until { log.all.count == 5 }

        #expect(log.all == ["dispatched", "roundBegan", "attemptSent", "attemptEnded", "ended"])
    }

    /// Cancels a request when its round leaves the limit.
    private struct CancellingLimit: RequestLimit {
        let client: Locked<NetworkClient?>

        func enter(_ configuration: APIConfiguration, _ context: DispatchContext) -> LimitPass {
            LimitPass { [client, id = context.id] in client.withLock { $0 }?.cancel(id) }
        }
    }

    @Test func `an observer receives no event after the end of a request`() async throws {
        let (log, box) = (EventLog(), Locked<NetworkClient?>(nil))
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [log.interceptor]
            $0.limits = [CancellingLimit(client: box)]
        }) { _ in .status(200) }
        box.withLock { $0 = client }

        #expect(await client.failure(of: APIConfiguration(path: "x")) == .cancelled)
        box.withLock { $0 = nil }
        // The events of the second request come after all events of the first.
        _ = try await client.send(APIConfiguration(path: "y"))
        await until { log.all.count { $0 == "ended" } == 2 }

        let first = ["dispatched", "roundBegan", "attemptSent", "attemptEnded", "ended"]
        let second = ["dispatched", "roundBegan", "attemptSent", "attemptEnded", "roundEnded", "ended"]
        #expect(log.all == first + second)
    }

    @Test func `a request that is cancelled while it starts is dispatched before it ends`() async throws {
        let log = EventLog()
        let time = WatchedTime()
        var options = NetworkClient.Options(seed: 1)
        options.interceptors = [log.interceptor]
        let transport = StubTransport { _ in .never }
        let service = try Service.topics(servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: time)
        let id = RequestID()
        time.watch { client.cancel(id) }

        #expect(await client.failure(of: APIConfiguration(path: "x"), id: id) == .cancelled)
        time.watch {}
        await until { log.all.count == 2 }

        #expect(log.all == ["dispatched", "ended"])
    }

    @Test(arguments: [false, true])
    func `if a request is cancelled while an attempt starts, the attempt's last event comes before the request's`(
        isRedirect: Bool
    ) async throws {
        let log = EventLog()
        let id = RequestID()
        let box = Locked<NetworkClient?>(nil)
        let observed: (inout NetworkClient.Options) -> Void = { $0.interceptors = [log.interceptor] }
        let (client, transport) = try NetworkClient.stubbed(options: observed) { request in
            if isRedirect, request.url.path == "/v1/x" { return .status(302, headers: ["Location": "/y"]) }
            box.withLock { $0 }?.cancel(id)
            return .never
        }
        box.withLock { $0 = client }

        #expect(await client.failure(of: APIConfiguration(path: "x"), id: id) == .cancelled)

        let first = ["dispatched", "roundBegan", "attemptSent"]
        let second = isRedirect ? ["attemptEnded", "redirected", "attemptSent"] : []
        #expect(await log.events(until: "ended") == first + second + ["attemptEnded", "ended"])
        await transport.waitUntilIdle()
        box.withLock { $0 = nil }
    }

    @Test func `a retry is reported as a delay and as another round of attempts`() async throws {
        let answers = AnswerList(503, 200)
        let log = EventLog()
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [log.interceptor]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }) { answers.answer($0) }

        _ = try await client.send(APIConfiguration(path: "x"))

        let round = ["roundBegan", "attemptSent", "attemptEnded", "roundEnded"]
        #expect(await log.events(until: "ended") == ["dispatched"] + round + ["waiting"] + round + ["ended"])
    }

    @Test func `an observer of the client receives all events, and an observer of a call only the events of that call`()
        async throws
    {
        let (all, one) = (EventLog(), EventLog())
        let (client, _) = try NetworkClient.stubbed(options: { $0.interceptors = [all.interceptor] }) { _ in
            .status(200)
        }
        var configuration = APIConfiguration(path: "x")
        configuration.interceptors = [one.interceptor]

        _ = try await client.send(APIConfiguration(path: "y"))
        _ = try await client.send(configuration)

        let events = await one.events(until: "ended")
        #expect(events.count == 6)
        #expect(all.all.count == 12)
    }

    @Test func `an observer that blocks delays no request`() async throws {
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [.observing { _ in DispatchSemaphore(value: 0).wait() }]
        }) { _ in .status(200) }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.status == 200)
    }

    @Test func `the number of dispatched requests minus the number of ended requests returns to zero`() async throws {
        let log = EventLog()
        let active = Locked(0)
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [
                .observing { event in
                    if case .dispatched = event.kind { active.withLock { $0 += 1 } }
                    if case .ended = event.kind { active.withLock { $0 -= 1 } }
                },
                log.interceptor,
            ]
        }) { _ in .failure(.connectionReset) }

        _ = await client.failure(of: APIConfiguration(path: "x"))

        _ = await log.events(until: "ended")
        #expect(active.withLock { $0 } == 0)
    }
}

/// A clock that calls a closure when it is read for the first time.
private final class WatchedTime: TimeSource {
    private let clock = ManualClock()
    private let watcher = Locked<@Sendable () -> Void>({})
    private let isWatched = Locked(true)

    var now: MonotonicTime {
        // The closure reads the clock too.
        let isFirst = isWatched.withLock { isWatched in
            defer { isWatched = false }
            return isWatched
        }
        if isFirst {
            watcher.withLock { $0 }()
            isWatched.withLock { $0 = true }
        }
        return clock.now
    }

    func watch(_ watcher: @escaping @Sendable () -> Void) {
        self.watcher.withLock { $0 = watcher }
    }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        clock.schedule(at: deadline, action)
    }
}
