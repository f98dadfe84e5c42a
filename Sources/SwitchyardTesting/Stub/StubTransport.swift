import Dispatch
import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

/// A transport without a network: answers from a script and records what it was asked.
///
///     let transport = StubTransport(["/topics": .json("[]"), "/users/1": .status(404)])
///     let transport = StubTransport(answers: [.failure(.connectionRefused), .json("{}")])
///     let transport = StubTransport { request in request.method == .get ? .json("{}") : .status(405) }
///
/// It keeps the rules of `Transport`: exactly one completion, also under a cancel at any moment or a
/// shutdown. The request's body is not read.
public final class StubTransport: Transport {
    /// Where completions are called.
    public enum Completion: Sendable, Hashable {
        /// On a serial queue of the transport, so that `start` has always returned or is about to.
        case queue
        /// Directly, also from within `start`: the fastest, for benchmarks.
        case inline
    }

    private struct State {
        var requests: [HTTPRequest] = []
        var requestCount = 0
        /// How many of them have been given their answer, so that the timer of a delayed one is set.
        var answeredCount = 0
        var exchanges: [ObjectIdentifier: StubExchange] = [:]
        var isShutDown = false
    }

    private let state = Watched(State())
    private let script: @Sendable (HTTPRequest) -> StubAnswer
    private let time: (any TimeSource)?
    private let queue: DispatchQueue?
    private let recordLimit: Int

    /// Creates a transport that asks a closure for each answer.
    ///
    /// - Parameters:
    ///   - completion: Where completions are called; on a queue of the transport unless given.
    ///   - time: The clock on which the requests' total timeouts run, and the idle timeout while no answer comes at all;
    ///     `nil` lets them not run. In the pauses of an answer the idle timeout runs on their clock; there is nothing to
    ///     connect to.
    ///   - recordLimit: How many requests are kept, the oldest goes first; 10,000 unless given.
    ///   - answer: Returns the answer to a request, on the thread that starts it.
    public init(
        completion: Completion = .queue,
        time: (any TimeSource)? = nil,
        recordLimit: Int = 10_000,
        _ answer: @escaping @Sendable (HTTPRequest) -> StubAnswer
    ) {
        script = answer
        self.time = time
        self.recordLimit = max(0, recordLimit)
        queue = completion == .queue ? DispatchQueue(label: "switchyard.stub-transport") : nil
    }

    /// Creates a transport that gives answers one after the other; behind the last, every request fails.
    public convenience init(
        answers: [StubAnswer],
        completion: Completion = .queue,
        time: (any TimeSource)? = nil
    ) {
        let rest = Locked(answers[...])
        self.init(completion: completion, time: time) { _ in
            rest.withLock { $0.popFirst() } ?? Self.unscripted("no answer is left")
        }
    }

    /// Creates a transport that looks answers up by the path of the URL, without the query; others fail.
    public convenience init(
        _ answers: [String: StubAnswer],
        completion: Completion = .queue,
        time: (any TimeSource)? = nil
    ) {
        self.init(completion: completion, time: time) { request in
            let path = request.url.foundationURL?.path(percentEncoded: true) ?? ""
            return answers[path.isEmpty ? "/" : path] ?? Self.unscripted("no answer for the path \(path)")
        }
    }

    private static func unscripted(_ reason: String) -> StubAnswer {
        .failure(TransportError(.other, message: "StubTransport: \(reason)", mayHaveBeenSent: false))
    }
}

// MARK: - Transport

extension StubTransport {
    /// Records the request and gives it the answer of the script.
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
        defer { state.change { $0.answeredCount += 1 } }
        guard register(exchange, request) else {
            exchange.end(TransportError(.closed, message: "the transport was shut down", mayHaveBeenSent: false))
            return exchange
        }
        exchange.setTimeout()
        exchange.play(script(request))
        return exchange
    }

    /// Ends what is in flight, and every later request, with ``/SwitchyardClient/TransportError/Kind/closed``.
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

// MARK: - Records

extension StubTransport {
    /// The requests that were started, in order; the number that is kept is limited.
    public var requests: [HTTPRequest] { state.withLock { $0.requests.suffix(recordLimit) } }

    /// The number of requests that were started.
    public var requestCount: Int { state.withLock { $0.requestCount } }

    /// The number of exchanges that have not ended; a streamed response ends with its body.
    public var openExchanges: Int { state.withLock { $0.exchanges.count } }

    /// Waits until so many requests were started; the timer of an answer that is delayed is set by then.
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> Bool {
        await state.wait(for: \.answeredCount) { $0 >= count }
    }

    /// Waits until no exchange is open.
    ///
    /// - Returns: `false` when the task was cancelled before.
    @discardableResult
    public func waitUntilIdle() async -> Bool {
        await state.wait(for: \.exchanges.count) { $0 == 0 }
    }
}
