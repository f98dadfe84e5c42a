import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// A WebSocket whose frames Switchyard itself writes and reads (RFC 6455), over a connection of a transport.
///
/// One task reads. A second task writes while there is something to write. ``FramedWebSocketState`` makes all decisions
/// under a lock, and this class carries out the decisions after the lock is released.
final class FramedWebSocket: WebSocketEngine {
    typealias Message = WebSocket.Message

    private let link: any WebSocketLink
    private let options: WebSocket.Options
    private let compresses: Bool
    private let time: any TimeSource
    private let state: Locked<FramedWebSocketState>
    private let timer = Locked<(any ScheduledTimer)?>(nil)
    private let inbox: MessageInbox<Message>
    /// A closure through which the inbox requests messages.
    ///
    /// The closure is set after initialization, because the inbox is created before this object can be captured.
    private let asking: Locked<@Sendable () -> Void>

    /// Creates the connection and starts reading.
    ///
    /// - Parameters:
    ///   - link: The connection, after the opening handshake.
    ///   - options: The options of the connection.
    ///   - compression: The negotiated compression, or `nil` for no compression.
    ///   - time: The clock of pings and timeouts.
    init(
        over link: any WebSocketLink,
        options: WebSocket.Options,
        compression: Handshake.Compression? = nil,
        time: any TimeSource
    ) {
        self.link = link
        self.options = options
        self.time = time
        compresses = compression != nil
        let inflater = compression.map { Inflater(keepsContext: $0.serverKeepsContext) }
        state = Locked(FramedWebSocketState(options, inflater: inflater, at: time.now))
        let asking = Locked<@Sendable () -> Void>({})
        self.asking = asking
        inbox = MessageInbox { _ in asking.withLock { $0 }() }
        asking.withLock { $0 = { [weak self] in self?.ask() } }
        setTimer()
        // This task ends with the connection. The server, a timer, or the release of the WebSocket ends the connection.
        Task { await readAll() }
    }

    var closure: WebSocket.Closure? { state.withLock { $0.closure } }

    // MARK: Receiving

    func receive() async throws(TransportError) -> Message {
        try await inbox.next()
    }

    private func ask() {
        state.withLock { $0.isAsked = true }
        serve()
    }

    /// If the app waits for a message (`receive`), delivers the next message or the error that ended the connection.
    private func serve() {
        let (outcome, reader) = state.withLock { ($0.takeForReader(), $0.takeReader()) }
        reader?()
        if let outcome { inbox.take(outcome) }
    }

    private func readAll() async {
        while true {
            await waitForRoom()
            do throws(TransportError) {
                guard let bytes = try await link.receive() else { return finish(state.withLock { $0.endOfBytes() }) }
                take(bytes)
            } catch {
                return finish(state.withLock { $0.connectionBroke(error) })
            }
        }
    }

    /// Waits while the buffer of received messages is full.
    private func waitForRoom() async {
        await withCheckedContinuation { (reader: CheckedContinuation<Void, Never>) in
            let now = time.now
            let held: @Sendable () -> Void = { reader.resume() }
            if state.withLock({ $0.holdReader(held, at: now) }) { held() }
        }
    }

    private func take(_ bytes: Data) {
        let now = time.now
        let step = state.withLock { $0.receive(bytes, at: now) }
        serve()
        carryOut(step)
    }

    // MARK: Sending

    func send(_ message: Message) async throws(TransportError) {
        guard !Task.isCancelled else { throw .sendCancelled }
        let outgoing = OutgoingMessage(message, compresses: compresses, fragment: options.fragmentSize)
        let id = state.withLock { $0.nextID() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (sender: CheckedContinuation<Result<Void, TransportError>, Never>) in
                let (refusal, step) = state.withLock { state -> (TransportError?, FramedWebSocketState.Step) in
                    // If the task is cancelled after this check, `onCancel` removes the message from the queue.
                    guard !Task.isCancelled else { return (.sendCancelled, FramedWebSocketState.Step()) }
                    return state.add(outgoing, id: id) { sender.resume(returning: $0) }
                }
                if let refusal { sender.resume(returning: .failure(refusal)) }
                carryOut(step)
            }
        } onCancel: {
            state.withLock { $0.takeBack(id) }?(.failure(.sendCancelled))
        }
        try outcome.get()
    }

    /// Writes until no data is left to write.
    private func writeAll() async {
        while let bytes = state.withLock({ $0.nextWrite() }) {
            do throws(TransportError) {
                try await link.send(bytes)
            } catch {
                return carryOut(state.withLock { $0.writingBroke(error) })
            }
            let sender = state.withLock { $0.hasWritten() }
            sender?(.success(()))
        }
    }

    // MARK: Closing

    func close(_ code: WebSocket.CloseCode, reason: String) {
        let now = time.now
        carryOut(state.withLock { $0.close(code, reason: reason, at: now) })
        setTimer()
    }

    func abandon() {
        state.withLock { $0.isDiscarding = true }
        state.withLock { $0.takeReader() }?()
        close(.goingAway, reason: "")
    }

    /// Carries out the actions that a change of the state requires.
    private func carryOut(_ step: FramedWebSocketState.Step) {
        for sender in step.failed { sender.waiter(.failure(sender.error)) }
        if step.startsWriting { Task { await writeAll() } }
        if step.hasEnded { serve() }
        if step.setsTimer { setTimer() }
        if let end = step.linkEnd { link.end(end.failure) }
        step.reader?()
    }

    private func finish(_ step: FramedWebSocketState.Step) {
        carryOut(step)
        serve()
        timer.withLock { timer in
            defer { timer = nil }
            return timer
        }?.cancel()
    }

    // MARK: Timers

    private func setTimer() {
        guard let due = state.withLock({ $0.nextCheckTime }) else { return }
        // The check runs in a new task, so that tasks with received bytes can run first. If bytes from the server have
        // arrived and only wait for a thread, the server must not count as silent.
        let next = time.schedule(at: due) { [weak self] in Task { self?.look() } }
        let before = timer.withLock { timer in
            defer { timer = next }
            return timer
        }
        before?.cancel()
    }

    private func look() {
        let now = time.now
        let step = state.withLock { $0.look(at: now) }
        carryOut(step)
        setTimer()
    }
}

extension TransportError {
    fileprivate static let sendCancelled = TransportError(
        .cancelled,
        message: "the sending task was cancelled",
        mayHaveBeenSent: false
    )
}
