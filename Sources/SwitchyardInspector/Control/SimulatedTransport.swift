import Foundation
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// A transport that simulates a fault.
///
/// Only delayed requests (`slow`) reach the real transport.
struct SimulatedTransport: Transport {
    /// The delay of a slow request.
    static let delay = Duration.seconds(3)

    let kind: CallFault.Kind
    let transport: any Transport
    let time: any TimeSource

    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        let exchange = SimulatedExchange(time: time, completion: completion)
        switch kind {
        case .refused: exchange.end(with: .failure(.simulated(.connectionRefused, sent: false)), after: .zero)
        case .status(let status): exchange.end(with: .success(.simulated(status, for: request)), after: .zero)
        case .timeout:
            let limits = [request.timeouts.idle, request.timeouts.total].compactMap(\.self)
            if let limit = limits.min() { exchange.end(with: .failure(.simulated(.timeout)), after: limit) }
        case .slow:
            exchange.goOn(after: Self.delay) { transport.start(request, progress: progress, completion: $0) }
        }
        return exchange
    }

    /// Does nothing, because the client shuts down the real transport itself.
    func shutdown() {}
}

/// An exchange that ends with a simulated result, is forwarded after a delay, or is cancelled.
private final class SimulatedExchange: TransportTask {
    typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

    private struct State {
        var completion: Completion?
        var timer: (any ScheduledTimer)?
        var task: (any TransportTask)?
        var isCancelled = false
    }

    private let time: any TimeSource
    private let state: Locked<State>

    init(time: any TimeSource, completion: @escaping Completion) {
        self.time = time
        state = Locked(State(completion: completion))
    }

    /// Ends the exchange with a simulated result after a pause.
    func end(with result: Result<HTTPResponse, TransportError>, after pause: Duration) {
        act(after: pause) { $0.takeCompletion()?(result) }
    }

    /// Forwards the request to the real transport after a pause.
    func goOn(after pause: Duration, _ start: @escaping @Sendable (@escaping Completion) -> any TransportTask) {
        act(after: pause) { exchange in
            guard let completion = exchange.takeCompletion() else { return }
            let task = start(completion)
            let isCancelled = exchange.state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
        }
    }

    func cancel() {
        let (timer, task) = state.withLock { state in
            state.isCancelled = true
            return (state.timer, state.task)
        }
        timer?.cancel()
        task?.cancel()
        guard let completion = takeCompletion() else { return }
        // The completion handler is called asynchronously, because the code that cancels the exchange may hold a lock
        // that the handler needs.
        _ = time.schedule(at: time.now) { completion(.failure(.simulated(.cancelled))) }
    }

    private func act(after pause: Duration, _ action: @escaping @Sendable (SimulatedExchange) -> Void) {
        let timer = time.schedule(at: time.now.advanced(by: pause)) { [self] in action(self) }
        // A timer that has already fired must not be stored, because the exchange and the timer would retain each
        // other.
        state.withLock { if $0.completion != nil { $0.timer = timer } }
    }

    private func takeCompletion() -> Completion? {
        state.withLock { state in
            defer { (state.completion, state.timer) = (nil, nil) }
            return state.completion
        }
    }
}

extension TransportError {
    fileprivate static func simulated(_ kind: Kind, sent: Bool = true) -> TransportError {
        TransportError(kind, message: "a failure that the inspector simulates", mayHaveBeenSent: sent)
    }
}

extension HTTPResponse {
    fileprivate static func simulated(_ status: Int, for request: HTTPRequest) -> HTTPResponse {
        let text = Data("simulated by the inspector\n".utf8)
        let pieces = Locked<Data?>(text)
        let stream = HTTPBodyStream { () throws(TransportError) -> Data? in
            pieces.withLock { piece in
                defer { piece = nil }
                return piece
            }
        }
        return HTTPResponse(
            status: status,
            headers: ["Content-Type": "text/plain; charset=utf-8"],
            body: request.delivery == .stream ? .stream(stream) : .whole(text)
        )
    }
}
