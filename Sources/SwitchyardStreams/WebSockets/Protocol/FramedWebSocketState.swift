import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// The state machine of a framed WebSocket: ``FramedWebSocket`` passes events and the time to it, and carries out each
/// ``Step``.
struct FramedWebSocketState: Sendable {
    typealias Message = WebSocket.Message
    /// A closure that receives the result of sending a message.
    typealias Sender = @Sendable (Result<Void, TransportError>) -> Void
    /// A closure that resumes the suspended reading task when there is room for more bytes.
    typealias Reader = @Sendable () -> Void

    /// A message that failed before it was completely sent.
    struct Failed {
        var waiter: Sender
        var error: TransportError
    }

    /// The actions that ``FramedWebSocket`` must carry out after a change of the state.
    struct Step {
        var failed: [Failed] = []
        var startsWriting = false
        var hasEnded = false
        var setsTimer = false
        /// The request to end the underlying connection immediately, or `nil` if the connection stays open.
        var linkEnd: LinkEnd?
        var reader: Reader?
    }

    struct LinkEnd {
        var failure: TransportError?
    }

    private struct Queued {
        var id: UInt64
        var message: OutgoingMessage
        var waiter: Sender
    }

    private enum Writing { case control, message, close }

    /// The maximum number of pongs that wait to be sent; beyond it, the oldest pong is dropped (RFC 6455 section
    /// 5.5.3).
    private static let mostPongs = 64
    /// The assumed memory overhead of a buffered message in bytes.
    private static let overhead = 64

    private let options: WebSocket.Options
    private var reader: MessageReader

    // The received messages that the app has not read yet, and their size.
    private var ready: [Message] = []
    private var readyBytes = 0
    /// Whether a call of `receive` waits for the next message.
    var isAsked = false
    /// Whether received messages are discarded because the app no longer reads them.
    var isDiscarding = false
    private var heldReader: Reader?

    // The control frames and messages that wait to be sent, and the write in progress.
    private var control: [Data] = []
    private var queue: [Queued] = []
    private var lastID: UInt64 = 0
    private var writing: Writing?
    private var isWriting = false
    /// The Close frame that waits to be sent, or `nil` if there is none.
    private var closeFrame: Data?
    /// Whether the Close frame is sent before the messages that wait.
    private var closesAtOnce = false

    private var ownClose: WebSocket.Closure?
    private var hasSentClose = false
    private var peerClose: WebSocket.Closure?
    private var end: TransportError?
    private var isOver = false
    /// The failure that counts against the server when the connection ends, or `nil` if the server is not at fault.
    private var fault: TransportError?
    private(set) var closure: WebSocket.Closure?
    private var lastReceived: MonotonicTime
    private var pingSent: MonotonicTime?
    private var pingDue: MonotonicTime?
    private var closeDue: MonotonicTime?

    init(_ options: WebSocket.Options, inflater: Inflater?, at now: MonotonicTime) {
        self.options = options
        let limits = MessageReader.Limits(
            message: max(0, options.maximumMessageSize),
            frame: max(0, options.maximumFrameSize ?? options.maximumMessageSize)
        )
        reader = MessageReader(limits: limits, inflater: inflater)
        lastReceived = now
        pingDue = options.pingPause.map { now.advanced(by: $0) }
    }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }
}

// MARK: - Receiving

extension FramedWebSocketState {
    /// Whether the buffer of received messages is full, so that no more bytes are received from the server.
    private var isFull: Bool { readyBytes >= max(64 << 10, options.maximumMessageSize) && !isDiscarding && !isOver }

    /// Suspends the reading task until there is room, or returns `true` if there is room already.
    mutating func holdReader(_ reader: @escaping Reader, at now: MonotonicTime) -> Bool {
        guard isFull else { return true }
        heldReader = reader
        return false
    }

    /// Returns the closure that resumes the reading task, or `nil` if no task is suspended or there is still no room.
    mutating func takeReader() -> Reader? {
        guard !isFull else { return nil }
        defer { heldReader = nil }
        return heldReader
    }

    /// If a call of `receive` waits, returns the next message, or the error that ended the connection.
    mutating func takeForReader() -> Result<Message, TransportError>? {
        guard isAsked else { return nil }
        if !ready.isEmpty {
            isAsked = false
            let message = ready.removeFirst()
            readyBytes -= message.size + Self.overhead
            return .success(message)
        }
        guard let end else { return nil }
        isAsked = false
        return .failure(end)
    }

    mutating func receive(_ bytes: Data, at now: MonotonicTime) -> Step {
        lastReceived = now
        guard !reader.hasEnded, !isOver else { return Step() }
        var events: [MessageReader.Event] = []
        var step = Step()
        do throws(WebSocketViolation) {
            try reader.read(bytes) { events.append($0) }
            for event in events { take(event, at: now, &step) }
        } catch {
            for event in events { take(event, at: now, &step) }
            fail(error, at: now, &step)
        }
        startWriting(&step)
        return step
    }

    private mutating func take(_ event: MessageReader.Event, at now: MonotonicTime, _ step: inout Step) {
        switch event {
        case .message(let message):
            guard !isDiscarding else { return }
            ready.append(message)
            readyBytes += message.size + Self.overhead
        case .ping(let payload):
            guard ownClose == nil || !hasSentClose else { return }
            if control.count >= Self.mostPongs { control.removeFirst() }
            control.append(FrameWriter.frame(.pong, payload))
        case .pong: break
        case .close(let code, let reason): takeClose(code, reason, at: now, &step)
        }
    }

    /// Processes the server's Close frame, and responds with a Close frame unless one has been sent.
    private mutating func takeClose(
        _ code: WebSocket.CloseCode,
        _ reason: String,
        at now: MonotonicTime,
        _ step: inout Step
    ) {
        let isAnswer = ownClose != nil && hasSentClose
        peerClose = WebSocket.Closure(code: code, reason: reason, isByServer: !isAnswer, isClean: true)
        if !isAnswer {
            ownClose = peerClose
            closeFrame = FrameWriter.close(code, reason: "")
            closesAtOnce = true
        }
        finish(peerClose?.error, with: peerClose, &step)
        // The server should close the underlying connection first (RFC 6455 section 7.1.1), so the client waits.
        closeDue = now.advanced(by: options.closeTimeout)
        step.setsTimer = true
    }

    /// Ends the connection after the server has violated the protocol (RFC 6455 section 7.1.7).
    private mutating func fail(_ violation: WebSocketViolation, at now: MonotonicTime, _ step: inout Step) {
        let (code, reason) = (violation.code, violation.message)
        let closure = WebSocket.Closure(code: code, reason: reason, isByServer: false, isClean: false)
        if ownClose == nil || !hasSentClose {
            closeFrame = FrameWriter.close(violation.code, reason: violation.message)
            closesAtOnce = true
        }
        ownClose = ownClose ?? closure
        let kind: TransportError.Kind = violation.code == .messageTooBig ? .bodyTooLarge : .protocolViolation
        let error = TransportError(kind, message: violation.message)
        if kind == .protocolViolation { fault = error }
        finish(error, with: closure, &step)
        closeDue = now.advanced(by: options.closeTimeout)
        step.setsTimer = true
    }
}

// MARK: - Sending

extension FramedWebSocketState {
    /// Adds a message to the queue, or returns an error if the connection accepts no more messages.
    mutating func add(_ message: OutgoingMessage, id: UInt64, _ waiter: @escaping Sender) -> (TransportError?, Step) {
        var step = Step()
        if let end { return (end.unsent, step) }
        if let ownClose { return (ownClose.error.unsent, step) }
        queue.append(Queued(id: id, message: message, waiter: waiter))
        startWriting(&step)
        return (nil, step)
    }

    /// Removes a message and returns its waiter, or returns `nil` if a part of the message has been sent.
    mutating func takeBack(_ id: UInt64) -> Sender? {
        guard let place = queue.firstIndex(where: { $0.id == id }), !queue[place].message.hasBegun else { return nil }
        return queue.remove(at: place).waiter
    }

    private mutating func startWriting(_ step: inout Step) {
        let hasWork = !control.isEmpty || !queue.isEmpty || closeFrame != nil
        guard hasWork, !isWriting, !isOver else { return }
        isWriting = true
        step.startsWriting = true
    }

    /// Returns the next bytes to write.
    ///
    /// Control frames come before the next frame of a message.
    mutating func nextWrite() -> Data? {
        if !isOver, let next = chosenWrite() { return next }
        isWriting = false
        return nil
    }

    private mutating func chosenWrite() -> Data? {
        guard !hasSentClose else { return nil }
        if !control.isEmpty {
            writing = .control
            return control.removeFirst()
        }
        if let frame = closeFrame, closesAtOnce || queue.isEmpty {
            writing = .close
            closeFrame = nil
            hasSentClose = true
            return frame
        }
        guard !queue.isEmpty else { return nil }
        writing = .message
        return queue[0].message.nextFrame()
    }

    /// Records that the last write has ended, and returns the waiter of a message that this write completed.
    mutating func hasWritten() -> Sender? {
        defer { writing = nil }
        guard writing == .message, let first = queue.first, first.message.isSent else { return nil }
        return queue.removeFirst().waiter
    }
}

// MARK: - Closing

extension FramedWebSocketState {
    /// Starts the closing handshake; the Close frame is sent after the waiting messages.
    mutating func close(_ code: WebSocket.CloseCode, reason: String, at now: MonotonicTime) -> Step {
        var step = Step()
        guard ownClose == nil, end == nil else { return step }
        let code = code.isSendable ? code : .normal
        ownClose = WebSocket.Closure(code: code, reason: reason, isByServer: false, isClean: false)
        closeFrame = FrameWriter.close(code, reason: reason)
        closeDue = now.advanced(by: options.closeTimeout)
        startWriting(&step)
        return step
    }

    /// Records that the server sends no more bytes.
    mutating func endOfBytes() -> Step {
        let error = TransportError(.connectionReset, message: "the connection ended without a Close frame")
        if peerClose == nil, !hasSentClose { fault = error }
        return connectionBroke(error)
    }

    /// Records that the underlying connection has ended.
    mutating func connectionBroke(_ error: TransportError) -> Step {
        var step = Step()
        let closure = WebSocket.Closure(code: .abnormal, isByServer: true, isClean: false)
        let isOwn = ownClose != nil && hasSentClose
        finish(isOwn ? ownClose?.error : error, with: isOwn ? ownClose : closure, &step)
        isOver = true
        step.linkEnd = LinkEnd(failure: fault)
        return step
    }

    /// Records that no bytes can be sent any more, although messages from the server can still be received.
    mutating func writingBroke(_ error: TransportError) -> Step {
        isWriting = false
        var step = Step()
        failQueue(error, &step)
        if error.kind != .connectionReset { step.linkEnd = LinkEnd(failure: fault) }
        return step
    }

    /// Ends the connection and fails all unsent messages; the app still receives the messages that have arrived.
    private mutating func finish(
        _ error: TransportError?,
        with closure: WebSocket.Closure?,
        _ step: inout Step
    ) {
        if self.closure == nil { self.closure = closure }
        if end == nil { end = error }
        failQueue(end ?? .ended, &step)
        step.hasEnded = true
        if let held = takeReader() { step.reader = held }
    }

    private mutating func failQueue(_ error: TransportError, _ step: inout Step) {
        step.failed += queue.map { queued in
            Failed(waiter: queued.waiter, error: queued.message.hasBegun ? error.sent : error.unsent)
        }
        queue = []
    }
}

// MARK: - Timers

extension FramedWebSocketState {
    /// The time of the next check, or `nil` if no check is needed.
    var nextCheckTime: MonotonicTime? {
        guard !isOver else { return nil }
        let idle = end == nil ? options.idlePause.map { lastReceived.advanced(by: $0) } : nil
        return [end == nil ? pingDue : nil, idle, closeDue].compactMap(\.self).min()
    }

    /// Performs the checks that are due: ping, idle timeout and close timeout.
    mutating func look(at now: MonotonicTime) -> Step {
        var step = Step()
        guard !isOver else { return step }
        // While the reading task is suspended, no bytes are received, so the server must not count as silent.
        if heldReader != nil { lastReceived = now }
        if let closeDue, closeDue <= now {
            finish(ownClose?.error, with: ownClose, &step)
            isOver = true
            step.linkEnd = LinkEnd(failure: fault)
            return step
        }
        guard end == nil else { return step }
        if let idle = options.idlePause, lastReceived.advanced(by: idle) <= now {
            timeOut("nothing was received for longer than the idle timeout", &step)
        } else if let pingDue, pingDue <= now {
            ping(at: now, &step)
        }
        return step
    }

    private mutating func ping(at now: MonotonicTime, _ step: inout Step) {
        if let pingSent, lastReceived < pingSent, heldReader == nil {
            return timeOut("a ping got no pong before the next ping", &step)
        }
        pingSent = now
        pingDue = options.pingPause.map { now.advanced(by: $0) }
        control.append(FrameWriter.frame(.ping, Data()))
        startWriting(&step)
    }

    private mutating func timeOut(_ message: String, _ step: inout Step) {
        let error = TransportError(.timeout, message: message)
        finish(error, with: WebSocket.Closure(code: .abnormal, isByServer: false, isClean: false), &step)
        isOver = true
        step.linkEnd = LinkEnd(failure: error)
    }
}

extension TransportError {
    fileprivate static let ended = TransportError(.closed, message: "the WebSocket has ended")

    /// The error for a message of which nothing was sent.
    fileprivate var unsent: TransportError {
        var error = self
        error.mayHaveBeenSent = false
        return error
    }

    /// The error for a message that was partly sent, so that the server may have received it.
    fileprivate var sent: TransportError {
        var error = self
        error.mayHaveBeenSent = true
        return error
    }
}
