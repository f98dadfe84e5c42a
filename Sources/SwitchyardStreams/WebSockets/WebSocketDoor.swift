import Foundation
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The object in which the calls of a ``WebSocket`` wait until the connection is open.
final class WebSocketDoor: Sendable {
    typealias Outcome = Result<any WebSocketEngine, TransportError>

    private struct State {
        var outcome: Outcome?
        var subprotocol: String?
        var waiters = WaiterList<Outcome>()
        var task: (any TransportTask)?
        /// The code and the reason that were passed to `close` before the connection was open, or `nil` if there are
        /// none.
        var closing: (code: WebSocket.CloseCode, reason: String)?
    }

    private let state = Locked(State())

    init() {}

    init(_ engine: any WebSocketEngine, subprotocol: String?) {
        state.withLock { state in
            state.outcome = .success(engine)
            state.subprotocol = subprotocol
        }
    }

    var subprotocol: String? { state.withLock { $0.subprotocol } }

    var closure: WebSocket.Closure? { current?.closure }

    private var current: (any WebSocketEngine)? { state.withLock { try? $0.outcome?.get() } }

    // MARK: Opening

    /// Opens a connection without a client.
    func open(_ request: HTTPRequest, _ options: WebSocket.Options) throws(TransportError) {
        try options.tls.check(request.url)
        let transport = try Self.transport.get()
        let handshake = Handshake(subprotocols: options.subprotocols, offersCompression: options.compression)
        var request = request
        request.prepare(for: handshake)
        if options.tls != TLSConfiguration() { request.tls = options.tls }
        let task = transport.start(request, progress: nil) { [self] result in
            take(result, handshake, options)
        }
        let isClosed = state.withLock { state in
            if state.outcome == nil { state.task = task }
            return state.closing != nil
        }
        if isClosed { task.cancel() }
    }

    /// The transport that all connections without a client share.
    private static let transport: Result<any Transport, TransportError> = {
        do throws(TransportError) { return .success(try Transports.systemDefault()) } catch { return .failure(error) }
    }()

    private func take(
        _ result: Result<HTTPResponse, TransportError>,
        _ handshake: Handshake,
        _ options: WebSocket.Options
    ) {
        do throws(TransportError) {
            let response = try result.get()
            guard response.status == 101 else {
                response.cancelBody()
                let message =
                    "the server responded to the opening handshake with status \(response.status), expected 101"
                throw TransportError(.protocolViolation, message: message)
            }
            let (engine, subprotocol) = try PlainLink.engine(of: response, handshake, options)
            settle(.success(engine), subprotocol)
        } catch {
            settle(.failure(error), nil)
        }
    }

    private func settle(_ outcome: Outcome, _ subprotocol: String?) {
        let (outcome, waiters, closing) = state.withLock { state in
            var outcome = outcome
            if state.closing != nil, case .failure = outcome { outcome = .failure(.closedBeforeOpen) }
            state.outcome = outcome
            state.subprotocol = subprotocol
            state.task = nil
            return (outcome, state.waiters.removeAll(), state.closing)
        }
        if let closing, case .success(let engine) = outcome { engine.close(closing.code, reason: closing.reason) }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    // MARK: Waiting

    /// Waits until the connection is open, and returns it.
    func engine() async throws(TransportError) -> any WebSocketEngine {
        let waiter = Waiter<Outcome>()
        let decided: Outcome? = state.withLock { state in
            if state.outcome == nil { state.waiters.add(waiter) }
            return state.outcome
        }
        if let decided { return try decided.get() }
        let outcome = await waiter.outcome { [self] in
            state.withLock { _ = $0.waiters.remove(waiter) }
            return .failure(.openingGivenUp)
        }
        return try outcome.get()
    }

    // MARK: Closing

    func close(_ code: WebSocket.CloseCode, reason: String) {
        let (engine, task) = state.withLock { state -> ((any WebSocketEngine)?, (any TransportTask)?) in
            if state.outcome == nil, state.closing == nil { state.closing = (code, reason) }
            return (try? state.outcome?.get(), state.task)
        }
        engine?.close(code, reason: reason)
        // This ends the opening if the connection is not open yet. Calls that wait for it then fail with an error that
        // reports the closure.
        task?.cancel()
    }

    /// Closes the connection.
    ///
    /// Further messages from the server are discarded.
    func abandon() {
        if let engine = current { engine.abandon() } else { close(.goingAway, reason: "") }
    }
}

extension TransportError {
    fileprivate static let closedBeforeOpen = TransportError(
        .closed,
        message: "this side closed the WebSocket before the connection was open",
        mayHaveBeenSent: false
    )
    fileprivate static let openingGivenUp = TransportError(
        .cancelled,
        message: "the waiting task was cancelled",
        mayHaveBeenSent: false
    )
}

extension HTTPRequest {
    /// Turns this request into the request that opens a WebSocket.
    mutating func prepare(for handshake: Handshake) {
        opensConnection = true
        delivery = .stream
        for field in handshake.fields { headers.set(field.name, field.value) }
    }
}

extension HTTPResponse {
    /// Cancels the body if it is a stream.
    func cancelBody() {
        if case .stream(let stream) = body { stream.cancel() }
    }
}
