import Dispatch
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

/// Each request ends once, in whatever order the events arrive.
@Suite(.timeLimit(.minutes(5)), .prompt) struct EndingOrderTests {
    private enum Event: CaseIterable {
        case answer, failure, deadline, cancel, release
    }

    /// How the request is sent.
    enum Form: CaseIterable {
        case exchange, flow, shared
    }

    /// Ends its exchange when the test calls `end`.
    private final class HeldTransport: Transport, TransportTask {
        private let completion = Locked<(@Sendable (Result<HTTPResponse, TransportError>) -> Void)?>(nil)
        let started = AsyncStream.makeStream(of: Void.self)

        func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            self.completion.withLock { $0 = completion }
            started.continuation.yield()
            return self
        }

        func end(_ result: Result<HTTPResponse, TransportError>) {
            let completion = completion.withLock { completion in
                defer { completion = nil }
                return completion
            }
            completion?(result)
        }

        func cancel() { end(.failure(TransportError(.cancelled, message: "cancelled"))) }

        func shutdown() {}
    }

    private static func orders(_ rest: [Event]) -> [[Event]] {
        rest.isEmpty
            ? [[]] : rest.flatMap { first in orders(rest.filter { $0 != first }).map { [first] + $0 } }
    }

    private static func text(of result: Result<ServiceResponse, RequestFailure>) -> String {
        switch result {
        case .success(let answer): "\(answer.status)"
        case .failure(let failure): "\(failure.reason)"
        }
    }

    /// Runs the events in this order and returns how the request ended.
    private func endings(_ order: [Event], _ form: Form) async throws -> [String] {
        let (transport, clock) = (HeldTransport(), ManualClock())
        var options = NetworkClient.Options(seed: 1)
        if form == .flow { options.interceptors = [.observing { _ in }] }
        let client = try NetworkClient(
            service: .topics(switching: .off, servers: 1),
            transport: transport,
            options: options,
            time: clock
        )
        var scope: NetworkClient? = client.scoped()
        var configuration = APIConfiguration(path: "x", timeout: .seconds(5))
        if form == .shared { configuration.sharing = .identical }
        let endings = Locked<[String]>([])
        let ended = AsyncStream.makeStream(of: Void.self)
        let queue = DispatchQueue(label: "endings")
        let id = scope?.send(configuration, on: queue) { result in
            endings.withLock { $0.append(Self.text(of: result)) }
            ended.continuation.yield()
        }
        _ = await transport.started.stream.first { _ in true }

        for event in order {
            switch event {
            case .answer: transport.end(.success(HTTPResponse(status: 200)))
            case .failure: transport.end(.failure(TransportError(.connectionReset, message: "reset")))
            case .deadline: clock.advance(by: .seconds(5))
            case .cancel: if let id { client.cancel(id) }
            case .release: scope = nil
            }
            // A flow processes a response in its own task.
            if event == order.first { _ = await ended.stream.first { _ in true } }
        }
        queue.sync {}
        #expect(client.activeRequests.isEmpty)
        #expect(clock.pendingTimers == 0)
        return endings.withLock { $0 }
    }

    @Test(arguments: Form.allCases)
    func `a request ends once, through whichever comes first of response, failure, deadline, cancel and release`(
        form: Form
    ) async throws {
        let expected: [Event: String] = [
            .answer: "200", .failure: "connectionReset: reset", .deadline: "no response within the deadline",
            .cancel: "cancelled", .release: "cancelled",
        ]

        try await calm()  // Each of the many orders takes several task switches, which are slow while all tests start.
        for order in Self.orders(Event.allCases) {
            let endings = try await endings(order, form)
            #expect(endings == [order.first.flatMap { expected[$0] } ?? ""], "\(order)")
        }
    }

    /// Completes before `start` returns, and returns late.
    private struct PromptTransport: Transport {
        struct Done: TransportTask {
            func cancel() {}
        }

        let calls: Locked<[String]>
        let queue: DispatchQueue

        func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            completion(.success(HTTPResponse(status: 200)))
            // Waits until the closures that were enqueued before have run.
            queue.sync {}
            calls.withLock { $0.append("started") }
            return Done()
        }

        func shutdown() {}
    }

    @Test func `a callback runs after send has returned the identifier even if the transport completes immediately`()
        async throws
    {
        let calls = Locked<[String]>([])
        let queue = DispatchQueue(label: "calls")
        let client = try NetworkClient(service: .topics(), transport: PromptTransport(calls: calls, queue: queue))

        await withCheckedContinuation { continuation in
            client.send(APIConfiguration(path: "x"), on: queue) { _ in
                calls.withLock { $0.append("called back") }
                continuation.resume()
            }
        }

        #expect(calls.withLock { $0 } == ["started", "called back"])
    }
}
