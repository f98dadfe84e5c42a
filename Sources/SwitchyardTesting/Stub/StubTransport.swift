import Dispatch
import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

/// A transport without a network that returns scripted responses and records its requests.
///
///     let transport = StubTransport(["/topics": .json("[]"), "/users/1": .status(404)])
///     let transport = StubTransport(answers: [.failure(.connectionRefused), .json("{}")])
///     let transport = StubTransport { request in request.method == .get ? .json("{}") : .status(405) }
///
/// The completion handler is called exactly once, as `Transport` requires, even if the exchange is cancelled at any
/// time or the transport is shut down. The body of the request is not read.
public final class StubTransport: Transport {
    /// The queue or thread on which completion handlers are called.
    public enum Completion: Sendable, Hashable {
        /// A serial queue of the transport.
        ///
        /// The completion handler is usually called after `start` has returned.
        case queue
        /// The thread that completes the exchange.
        ///
        /// The completion handler can be called before `start` returns.
        ///
        /// This is the fastest option and is intended for benchmarks.
        case inline
    }

    private struct State {
        var requests: [HTTPRequest] = []
        var requestCount = 0
        /// The number of requests whose scripted behavior has started.
        ///
        /// If the response is delayed, its timer has been set.
        var responseCount = 0
        var exchanges: [ObjectIdentifier: StubExchange] = [:]
        var isShutDown = false
    }

    private let state = ObservableState(State())
    private let script: @Sendable (HTTPRequest) -> StubResponse
    private let time: (any TimeSource)?
    private let queue: DispatchQueue?
    private let recordLimit: Int

    /// Creates a transport that calls a closure for each request.
    ///
    /// - Parameters:
    ///   - completion: The queue or thread on which completion handlers are called. The default is a queue of the
    ///     transport.
    ///   - time: The clock of the total timeout, and of the idle timeout if there is no response at all. If it is
    ///     `nil`, these timeouts do not run. While a response pauses, the idle timeout uses the clock of the pause. The
    ///     connect timeout never applies.
    ///   - recordLimit: The maximum number of recorded requests. If there are more, the oldest are removed. The default
    ///     is 10,000.
    ///   - answer: A closure that returns the scripted response to a request. It is called on the thread that starts
    ///     the request.
    public init(
        completion: Completion = .queue,
        time: (any TimeSource)? = nil,
        recordLimit: Int = 10_000,
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) {
        script = answer
        self.time = time
        self.recordLimit = max(0, recordLimit)
        queue = completion == .queue ? DispatchQueue(label: "switchyard.stub-transport") : nil
    }

    /// Creates a transport that uses the scripted responses in order.
    ///
    /// After the last response, every request fails.
    public convenience init(
        answers: [StubResponse],
        completion: Completion = .queue,
        time: (any TimeSource)? = nil
    ) {
        let rest = Locked(answers[...])
        self.init(completion: completion, time: time) { _ in
            rest.withLock { $0.popFirst() } ?? Self.unscripted("no response is left")
        }
    }

    /// Creates a transport that looks up the response by the path of the URL, without the query.
    ///
    /// Requests with another path fail.
    public convenience init(
        _ answers: [String: StubResponse],
        completion: Completion = .queue,
        time: (any TimeSource)? = nil
    ) {
        self.init(completion: completion, time: time) { request in
            let path = request.url.foundationURL?.path(percentEncoded: true) ?? ""
            return answers[path.isEmpty ? "/" : path] ?? Self.unscripted("no response for the path \(path)")
        }
    }

    private static func unscripted(_ reason: String) -> StubResponse {
        .failure(TransportError(.other, message: "StubTransport: \(reason)", mayHaveBeenSent: false))
    }
}

// MARK: - Transport

extension StubTransport {
    /// Records the request and carries out its scripted response.
    public func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let exchange = StubExchange(
            request: request,
            time: time,
            queue: queue,
            progress: progress,
            onEnd: { [weak self] exchange in self?.remove(exchange) },
            completion: completion
        )
        defer { state.change { $0.responseCount += 1 } }
        guard register(exchange, request) else {
            exchange.end(TransportError(.closed, message: "the transport was shut down", mayHaveBeenSent: false))
            return exchange
        }
        exchange.setTimeout()
        exchange.play(script(request))
        return exchange
    }

    /// Ends all open exchanges with ``/SwitchyardServices/WireFailure/closed``.
    ///
    /// Every later request fails with the same error.
    public func shutdown() {
        let exchanges = state.change { state in
            state.isShutDown = true
            return Array(state.exchanges.values)
        }
        for exchange in exchanges { exchange.end(TransportError(.closed, message: "the transport was shut down")) }
    }

    private func register(_ exchange: StubExchange, _ request: HTTPRequest) -> Bool {
        state.change { state in
            state.requestCount += 1
            state.requests.append(request)
            if state.requests.count - recordLimit > recordLimit {
                state.requests.removeFirst(state.requests.count - recordLimit)
            }
            guard !state.isShutDown else { return false }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    private func remove(_ exchange: StubExchange) {
        state.change { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
    }
}

// MARK: - Recorded requests

extension StubTransport {
    /// The started requests in order.
    ///
    /// If more requests have started than the transport records, the oldest are missing.
    public var requests: [HTTPRequest] { state.withLock { $0.requests.suffix(recordLimit) } }

    /// The number of started requests.
    public var requestCount: Int { state.withLock { $0.requestCount } }

    /// The number of exchanges that have not ended.
    ///
    /// An exchange with a streamed response ends when its body ends.
    public var openExchanges: Int { state.withLock { $0.exchanges.count } }

    /// Waits until at least this number of requests has been started.
    ///
    /// When this method returns, the timers that delay the responses of these requests are set.
    ///
    /// - Returns: `false` if the task was cancelled first.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> Bool {
        await state.wait(for: \.responseCount) { $0 >= count }
    }

    /// Waits until no exchange is open.
    ///
    /// - Returns: `false` if the task was cancelled first.
    @discardableResult
    public func waitUntilIdle() async -> Bool {
        await state.wait(for: \.exchanges.count) { $0 == 0 }
    }
}
