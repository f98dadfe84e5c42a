import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The runner of a ``ReconnectingWebSocket``.
///
/// The runner opens one connection after another. For each connection, one task reads and one task sends.
final class ReconnectingRunner: Sendable {
    typealias Message = WebSocket.Message

    private struct State {
        var queue: SendQueue
        var lastID: UInt64 = 0
        var socket: WebSocket?
        /// The received messages that have not been delivered to the app.
        var ready: [Message] = []
        var isAsked = false
        /// The number of bytes that may be read before the app takes the received messages.
        ///
        /// It is above zero only after a message could not be sent, when the connection is read to its end.
        var readAhead = 0
        var end: TransportError?
        var failure: WebSocketFailure?
        /// The code and the reason that the app passed to `close`, or `nil` if the app has not closed the WebSocket.
        var closing: (code: WebSocket.CloseCode, reason: String)?
        var endsNormally = false
        /// The signal that wakes the sending task when there is a message to send.
        var sender = WakeUp()
        /// The signal that wakes the reading task when the app requests a message.
        var reader = WakeUp()
    }

    /// The assumed memory overhead of a received message in bytes.
    private static let overhead = 64

    private let configuration: APIConfiguration
    private let options: ReconnectingWebSocket.Options
    /// The transfer that all connections share.
    ///
    /// When the transfer ends, the WebSocket ends.
    private let transfer: Transfer
    /// The client, retained while the WebSocket runs.
    private let client: NetworkClient
    private let resume: ReconnectingWebSocket.Resume
    private let state: Locked<State>
    let inbox: MessageInbox<Message>
    private let asking = Locked<@Sendable () -> Void>({})

    init(
        _ configuration: APIConfiguration,
        _ options: ReconnectingWebSocket.Options,
        id: RequestID,
        client: NetworkClient,
        resume: @escaping ReconnectingWebSocket.Resume
    ) {
        // The snapshot fixes the idempotency key, so that all connections send the same key.
        self.configuration = configuration.snapshot()
        self.options = options
        self.client = client
        self.resume = resume
        transfer = Transfer(id: id, client: client, hasEnd: false)
        state = Locked(State(queue: SendQueue(messages: options.queueLimit, bytes: options.queueByteLimit)))
        let asking = asking
        inbox = MessageInbox { _ in asking.withLock { $0 }() }
        asking.withLock { $0 = { [weak self] in self?.ask() } }
    }

    var id: RequestID { transfer.id }
    var socket: WebSocket? { state.withLock { $0.socket } }
    var failure: WebSocketFailure? { state.withLock { $0.failure } }
    var endsNormally: Bool { state.withLock { $0.endsNormally } }

    func start() {
        Task { await run() }
    }

    // MARK: Callers

    func send(_ message: Message) async throws(WebSocketSendFailure) {
        guard !Task.isCancelled else { throw .cancelled }
        guard transfer.handle.refusal == nil else { throw .ended }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (caller: CheckedContinuation<Result<Void, WebSocketSendFailure>, Never>) in
                let entry = SendQueue.Entry(id: id, message: message) { caller.resume(returning: $0) }
                let (refusal, wake) = state.withLock { state in
                    // If the task is cancelled after this check, `onCancel` removes the message from the queue.
                    (Task.isCancelled ? .cancelled : state.queue.add(entry), state.sender.ring())
                }
                if let refusal { caller.resume(returning: .failure(refusal)) }
                wake?()
            }
        } onCancel: {
            if let ended = state.withLock({ $0.queue.takeBack(id) }) { ended.waiter(.failure(ended.failure)) }
        }
        try outcome.get()
    }

    /// Waits for the next message, or throws once the user who opened the WebSocket has logged out.
    func receive() async throws(TransportError) -> Message {
        try checkOwner()
        let message = try await inbox.next()
        try checkOwner()
        return message
    }

    private func checkOwner() throws(TransportError) {
        if let refusal = transfer.handle.refusal { throw TransportError(refusal) }
    }

    private func ask() {
        let wake = state.withLock { state in
            state.isAsked = true
            return state.reader.ring()
        }
        wake?()
        serve()
    }

    private func serve() {
        let outcome: Result<Message, TransportError>? = state.withLock { state in
            guard state.isAsked, !state.ready.isEmpty || state.end != nil else { return nil }
            state.isAsked = false
            if !state.ready.isEmpty { return .success(state.ready.removeFirst()) }
            return state.end.map { .failure($0) }
        }
        if let outcome { inbox.take(outcome) }
    }

    func close(_ code: WebSocket.CloseCode, reason: String) {
        let socket = state.withLock { state in
            if state.closing == nil { state.closing = (code, reason) }
            return state.socket
        }
        socket?.close(code, reason: reason)
        // Cancelling the transfer ends an opening in progress or the pause before the next connection.
        if socket == nil { transfer.handle.cancel(.cancelled) }
        closeQueue()
    }

    private func closeQueue() {
        for ended in state.withLock({ $0.queue.close(.ended) }) { ended.waiter(.failure(ended.failure)) }
    }

    // MARK: Connections

    private func run() async {
        let opening = WebSocketOpening(configuration, options.socket, transfer, endsTransfer: false)
        do throws(WebSocketFailure) {
            try opening.begin()
            var course = ReconnectingCourse(options)
            while !isClosing {
                try await connect(opening, &course)
                guard !isClosing else { break }
                await wait(course)
                try checkRunning()
            }
            finish(nil)
        } catch {
            finish(isClosing ? nil : error)
        }
    }

    private var isClosing: Bool { state.withLock { $0.closing != nil } }

    /// Opens a connection and serves it until it ends.
    ///
    /// Returns if another connection should be opened. Otherwise, throws an error.
    private func connect(
        _ opening: WebSocketOpening,
        _ course: inout ReconnectingCourse
    ) async throws(WebSocketFailure) {
        let socket: WebSocket
        do throws(WebSocketFailure) {
            socket = try await opening.open(avoiding: course.avoided)
        } catch {
            try checkRunning()
            guard course.mayGoOn(after: error) else { throw error }
            return
        }
        course.avoided = []
        let isWanted = state.withLock { state in
            if state.closing == nil { state.socket = socket }
            return state.closing == nil
        }
        guard isWanted else { return socket.close() }
        let error = await serve(socket, number: course.connections)
        course.connections += 1
        state.withLock { $0.socket = nil }
        guard !isClosing else { return }
        try checkRunning()
        try judge(socket, error, &course)
    }

    /// Decides whether another connection is opened after a connection has ended.
    ///
    /// Throws an error if no further connection is opened.
    private func judge(
        _ socket: WebSocket,
        _ end: ConnectionEnd,
        _ course: inout ReconnectingCourse
    ) throws(WebSocketFailure) {
        if end.hasReceived { course.failures = 0 }
        if let closure = socket.closure, closure.code != .abnormal, !options.reconnects(closure) {
            throw .closed(closure)
        }
        guard course.mayFailAgain() else {
            throw .closed(socket.closure ?? WebSocket.Closure(code: .abnormal, isByServer: true, isClean: false))
        }
        if transfer.pool.hasAlternatives, let server = socket.context?.server { course.avoided = [server] }
    }

    /// The facts about an ended connection that decide whether it counts as failed.
    private struct ConnectionEnd {
        var hasReceived = false
    }

    /// Runs the `resume` closure for a new connection, and then serves the connection until it ends.
    private func serve(_ socket: WebSocket, number: Int) async -> ConnectionEnd {
        let interrupted = state.withLock { $0.queue.interrupted.map(\.message) }
        do {
            let resumption = ReconnectingWebSocket.Resumption(socket: socket, interrupted: interrupted, number: number)
            let decision = try await resume(resumption)
            for ended in state.withLock({ $0.queue.settle(decision) }) { ended.waiter(.failure(ended.failure)) }
        } catch {
            socket.close(.goingAway)
            return ConnectionEnd()
        }
        state.withLock { $0.readAhead = 0 }
        return await withTaskGroup(of: Bool?.self) { group in
            group.addTask { await self.readAll(socket) }
            group.addTask {
                await self.sendAll(socket)
                return nil
            }
            var end = ConnectionEnd()
            for await hasReceived in group {
                end.hasReceived = end.hasReceived || hasReceived == true
                group.cancelAll()
            }
            // If sending failed, this call closes the connection. If the connection has already ended, this call has no
            // effect.
            socket.close(.goingAway)
            return end
        }
    }

    /// Reads messages until the connection ends, and returns whether a message arrived.
    private func readAll(_ socket: WebSocket) async -> Bool {
        var hasReceived = false
        while !Task.isCancelled {
            guard let message = try? await socket.receive() else { break }
            hasReceived = true
            state.withLock { state in
                state.ready.append(message)
                state.readAhead -= min(state.readAhead, message.size + Self.overhead)
            }
            serve()
            await waitForReader()
        }
        return hasReceived
    }

    /// Waits until all received messages have been delivered to the app, unless `readAhead` allows more messages to be
    /// read before.
    private func waitForReader() async {
        while !Task.isCancelled, state.withLock({ !$0.ready.isEmpty && $0.readAhead == 0 }) {
            await sleep(\.reader) { !$0.ready.isEmpty && !$0.isAsked && $0.readAhead == 0 }
        }
    }

    private func sendAll(_ socket: WebSocket) async {
        while !Task.isCancelled {
            guard let entry = state.withLock({ $0.queue.take() }) else {
                await sleep(\.sender) { !$0.queue.hasWork }
                continue
            }
            do throws(TransportError) {
                try await socket.send(entry.message)
                state.withLock { $0.queue.sent() }?(.success(()))
            } catch {
                let ended = state.withLock { $0.queue.broke(mayHaveBeenDelivered: error.mayHaveBeenSent) }
                if let ended { ended.waiter(.failure(ended.failure)) }
                return await waitForEnd()
            }
        }
    }

    /// Waits until the connection, over which a message could not be sent, has been read to its end.
    ///
    /// The last messages from the server, and the server's closure with the reason, may have arrived already.
    /// Therefore, up to the number of bytes that a connection buffers is read without waiting for the app.
    private func waitForEnd() async {
        let wake = state.withLock { state in
            state.readAhead = max(64 << 10, options.socket.maximumMessageSize)
            return state.reader.ring()
        }
        wake?()
        await transfer.core.time.pause(for: options.socket.closeTimeout)
    }

    /// If the condition is true, waits for a signal or for the cancellation of the task.
    private func sleep(_ place: any WritableKeyPath<State, WakeUp> & Sendable, if mustSleep: @Sendable (State) -> Bool)
        async
    {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (sleeper: CheckedContinuation<Void, Never>) in
                let sleeps = state.withLock { state in
                    // If the task is cancelled after this check, the cancellation handler finds the stored waiter and
                    // resumes it.
                    guard !Task.isCancelled, mustSleep(state) else { return false }
                    state[keyPath: place].set { sleeper.resume() }
                    return true
                }
                if !sleeps { sleeper.resume() }
            }
        } onCancel: {
            state.withLock { $0[keyPath: place].ring() }?()
        }
    }

    // MARK: Between connections

    private func wait(_ course: ReconnectingCourse) async {
        let (time, openings) = (transfer.core.time, transfer.core.connectivity.openings)
        let end = time.now.advanced(by: course.pause)
        let wait = Task { _ = await transfer.core.connectivity.wait(since: openings, until: end, on: time) }
        transfer.handle.attach { wait.cancel() }
        await wait.value
    }

    private func checkRunning() throws(WebSocketFailure) {
        guard let reason = transfer.handle.reason else { return }
        throw .request(RequestFailure(reason, id: transfer.id, context: transfer.context(of: configuration)))
    }

    private func finish(_ failure: WebSocketFailure?) {
        state.withLock { state in
            state.failure = failure
            state.end = failure?.transportError ?? .closedHere
            state.endsNormally = failure?.isNormal ?? true
        }
        closeQueue()
        serve()
        transfer.end()
    }
}

/// A signal that resumes a waiting task when there is something to do.
struct WakeUp: Sendable {
    private var sleeper: (@Sendable () -> Void)?

    mutating func set(_ sleeper: @escaping @Sendable () -> Void) {
        self.sleeper = sleeper
    }

    mutating func ring() -> (@Sendable () -> Void)? {
        defer { sleeper = nil }
        return sleeper
    }
}

extension TransportError {
    fileprivate static let closedHere = TransportError(.closed, message: "this side closed the WebSocket")
}

extension WebSocketFailure {
    /// The failure as a transport error.
    fileprivate var transportError: TransportError {
        switch self {
        case .request(let failure): TransportError(failure.reason)
        case .closed(let closure): closure.error
        case .refused, .handshake: TransportError(.protocolViolation, message: description)
        }
    }

    fileprivate var isNormal: Bool {
        if case .closed(let closure) = self { closure.isNormal } else { false }
    }
}
