import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// An accepted connection, which reads requests and sends the responses in the same order.
///
/// Only the event loop's thread accesses the connection. While a request waits for its response, the connection buffers
/// a bounded number of bytes of the following requests and then stops reading. If a client closes its side while it
/// waits for a response, the client counts as disconnected, and the handler's task is cancelled.
final class Connection {
    /// The lifecycle phase of the connection.
    enum Phase {
        case open
        /// The server has sent its last response, and discards received bytes until the client closes the connection.
        ///
        /// If the server closed the connection immediately, a reset could destroy the last response.
        case lingering
        case closed
    }

    let descriptor: Int32
    let number: Int
    unowned let loop: EventLoop
    var phase = Phase.open
    var parser: RequestParser
    var exchange: Exchange?
    var output = OutputQueue()
    /// The number of requests whose heads have arrived.
    var requestCount = 0
    /// The timers of the delayed ``Follower`` bytes, by the sequence number of the group of bytes.
    private var followerTimers: [Int: any ScheduledTimer] = [:]
    private var lastFollower = 0
    /// Whether the client sent invalid HTTP, so that only the error response remains to be sent.
    private(set) var isRefused = false
    private var lingerTimer: TimerQueue.Token?
    /// The time at which the connection became idle: since then, no request has been in progress.
    private var idleSince: MonotonicTime
    private var idleTimer: TimerQueue.Token?
    private var isAdvancing = false

    init(descriptor: Int32, number: Int, loop: EventLoop) {
        self.descriptor = descriptor
        self.number = number
        self.loop = loop
        parser = RequestParser(headLimit: loop.board.limits.headBytes)
        idleSince = loop.now
        watchIdleness()
    }

    /// Updates the events for which the poller watches the socket.
    ///
    /// While packets are lost (``Fault/blackHole``), the poller does not watch the socket at all.
    func updateInterest() {
        guard phase != .closed else { return }
        guard !loop.isSilent else { return loop.poller.forget(descriptor) }
        var interest: Interest = []
        if wantsToRead { interest.insert(.read) }
        if !output.isEmpty { interest.insert(.write) }
        loop.poller.watch(descriptor, for: interest)
    }

    /// Reads, writes or closes, depending on the events that occurred on the socket.
    func handle(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        if wantsToRead {
            // Bytes that arrived before a hang-up are read first; the read then reports the hang-up.
            if !readiness.isDisjoint(with: [.readable, .hungUp]) { read() }
        } else if readiness.contains(.hungUp) {
            close()
        }
        updateInterest()
    }

    /// Closes the socket, cancels the handler, and ends all operations that wait for the connection.
    func close(byReset: Bool = false) {
        guard phase != .closed else { return }
        phase = .closed
        if let lingerTimer { loop.timers.cancel(lingerTimer) }
        if let idleTimer { loop.timers.cancel(idleTimer) }
        for timer in followerTimers.values { timer.cancel() }
        loop.poller.forget(descriptor)
        abandonExchange()
        if byReset { Socket.reset(descriptor) } else { Socket.end(descriptor) }
        loop.remove(self)
    }

    /// Closes the connection as soon as the client has closed its side, or after 500 ms.
    func linger() {
        guard phase == .open else { return }
        phase = .lingering
        Socket.finishSending(descriptor)
        lingerTimer = loop.after(.milliseconds(500)) { [unowned self] in
            lingerTimer = nil
            close()
        }
    }

    private var wantsToRead: Bool {
        guard phase == .open else { return phase == .lingering }
        guard !isRefused, let exchange else { return !isRefused }
        guard exchange.isRequestComplete else { return !exchange.channel.isFull }
        return parser.bufferedCount < loop.board.limits.bufferedBodyBytes
    }
}

// MARK: - Idle timeout

extension Connection {
    /// Records that the connection is idle: no request is in progress.
    func becomeIdle() {
        idleSince = loop.now
        if idleTimer == nil { watchIdleness() }
    }

    /// Schedules one idle check for the earliest time at which the idle timeout can expire, instead of a timer per
    /// request.
    private func watchIdleness() {
        guard let timeout = loop.board.limits.idleTimeout else { return }
        idleTimer = loop.timers.add(at: idleSince.advanced(by: timeout)) { [unowned self] in
            idleTimer = nil
            // If a request is in progress, the next check is scheduled when that request ends.
            guard phase == .open, exchange == nil else { return }
            // While packets are lost, the client could not see that the connection was closed, so the idle time is
            // measured from the beginning again.
            if loop.isSilent { idleSince = loop.now }
            if idleSince.advanced(by: timeout) > loop.now { watchIdleness() } else { close() }
        }
    }
}

// MARK: - Bytes after a response

extension Connection {
    /// Sends the unsolicited bytes (``Follower``) that a test has added to a response.
    ///
    /// Bytes without a delay are sent immediately. Delayed bytes are sent when their delay has passed, if the
    /// connection stays open.
    func follow(_ followers: [Follower], isKept: Bool) {
        for follower in followers {
            guard follower.delay > .zero else {
                output.append(follower.bytes)
                continue
            }
            if isKept { send(follower) }
        }
    }

    /// Sends delayed ``Follower`` bytes when their delay has passed.
    func send(_ bytes: Data, ofFollower number: Int) {
        guard followerTimers.removeValue(forKey: number) != nil, phase == .open else { return }
        output.append(bytes)
        flush()
    }

    private func send(_ follower: Follower) {
        lastFollower += 1
        let id = FollowerID(descriptor: descriptor, connection: number, number: lastFollower)
        let mailbox = loop.mailbox
        let deadline = follower.time.now.advanced(by: follower.delay)
        // The clock can call this closure on any thread, so the closure posts a command to the event loop's mailbox.
        followerTimers[lastFollower] = follower.time.schedule(at: deadline) {
            _ = mailbox.post(.follow(id, follower.bytes))
        }
    }
}

// MARK: - Reading

extension Connection {
    private func read() {
        for _ in 0..<4 where wantsToRead {
            switch Socket.receive(descriptor, into: loop.receiveBuffer) {
            case .moved(let count):
                guard phase == .open else { continue }
                parser.feed(UnsafeRawBufferPointer(rebasing: loop.receiveBuffer[..<count]))
                advance()
            case .wouldBlock: return
            case .ended, .failed: return close()
            }
        }
    }

    /// Handles the events of the parser, until the parser needs more bytes or a response must end first.
    func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        do throws(LoopbackError) {
            while phase == .open, !isRefused, exchange?.isRequestComplete != true, let event = try parser.next() {
                take(event)
            }
        } catch {
            refuse(error)
        }
    }

    private func take(_ event: RequestEvent) {
        switch event {
        case .head(let head): begin(head)
        case .body(let piece):
            guard let exchange else { return }
            exchange.hasBodyBegun = true
            loop.board.recordBody(piece, of: exchange.request.number)
            exchange.channel.push(piece)
        case .end(let trailers):
            guard let exchange else { return }
            exchange.isRequestComplete = true
            loop.board.recordEnd(trailers, of: exchange.request.number)
            exchange.channel.finish(.success(trailers))
            carryOutVerdict()
            endExchangeIfDone()
        }
    }

    /// Sends an error response to a request that is not valid HTTP, and closes the connection.
    ///
    /// If a response is in progress, closes the connection immediately.
    private func refuse(_ error: LoopbackError) {
        loop.board.change { $0.statistics.badRequests += 1 }
        exchange?.channel.finish(.failure(error))
        guard exchange?.reply == nil, case .badRequest(let status, let reason) = error else { return close() }
        abandonExchange()
        isRefused = true
        let body = Data("\(reason)\n".utf8)
        var reply = Reply(LoopbackResponse(status: status, body: .data(body)), to: nil, closes: true, fault: nil)
        output.append(reply.opening().bytes)
        output.append(reply.body(body).bytes)
        flush()
    }
}

extension Connection {
    /// Starts the exchange of a request whose head has arrived.
    func begin(_ head: RequestHead) {
        let now = loop.now
        requestCount += 1
        let admission = loop.board.admit(head, connection: number, numberOnConnection: requestCount, at: now)
        let id = ExchangeID(descriptor: descriptor, number: admission.number)
        let mailbox = loop.mailbox
        let channel = RequestBodyChannel(capacity: loop.board.limits.bufferedBodyBytes) {
            _ = mailbox.post(.readMore(id))
        }
        let request = LoopbackRequest(
            method: head.method,
            target: head.target,
            headers: head.headers,
            body: LoopbackRequestBody(channel: channel),
            number: admission.number,
            connection: number,
            numberOnConnection: requestCount,
            time: now,
            pathValues: admission.pathValues
        )
        let exchange = Exchange(
            id: id,
            head: head,
            request: request,
            action: admission.action,
            effect: admission.effect
        )
        self.exchange = exchange
        proceed(exchange)
    }

    /// Continues an exchange that was held by a fault, if the fault has ended.
    func reconsiderHold() {
        guard let exchange, case .fault(let fault) = exchange.hold, !loop.board.holds(fault, at: loop.now) else {
            return
        }
        exchange.hold = nil
        exchange.effect = loop.board.effect(for: exchange.head, at: loop.now)
        proceed(exchange)
        updateInterest()
    }

    /// Lets the client send the body of the request, because the handler or the server itself needs the body.
    func readMore() {
        sendContinueIfExpected()
        updateInterest()
    }

    /// Ends the exchange without a response, because the connection is lost.
    func abandonExchange() {
        guard let exchange, !leavesForLateExecution(exchange), removeExchange() != nil else { return }
        // The channel is finished before the task is cancelled, so that a handler that is reading receives the reason.
        exchange.channel.finish(.failure(.connectionClosed))
        exchange.task?.cancel()
        for acknowledgement in exchange.acknowledgements { acknowledgement.call(false) }
    }

    /// If the request is executed even without its client, hands the exchange over to the event loop and returns
    /// `true`.
    ///
    /// Otherwise, returns `false`.
    private func leavesForLateExecution(_ exchange: Exchange) -> Bool {
        guard exchange.isExecutedLate else { return false }
        self.exchange = nil
        if case .timer(let token) = exchange.hold { loop.timers.cancel(token) }
        if let token = exchange.dripTimer { loop.timers.cancel(token) }
        for acknowledgement in exchange.acknowledgements { acknowledgement.call(false) }
        loop.executeLate(exchange)
        return true
    }

    /// Removes the exchange and its timers from the connection.
    func removeExchange() -> Exchange? {
        guard let exchange else { return nil }
        self.exchange = nil
        if case .timer(let token) = exchange.hold { loop.timers.cancel(token) }
        if let token = exchange.dripTimer { loop.timers.cancel(token) }
        loop.board.change { $0.statistics.requestsInProgress -= 1 }
        return exchange
    }

    /// Applies the fault to the request.
    ///
    /// If there is no fault, starts the action of the route.
    private func proceed(_ exchange: Exchange) {
        switch exchange.effect {
        case .hold(let fault): exchange.hold = .fault(fault)
        case .pause(let fault):
            exchange.survivesClient = true
            exchange.hold = .fault(fault)
        case .delay(let delay): start(exchange, after: delay)
        case .late(let delay):
            exchange.survivesClient = true
            start(exchange, after: delay)
        case .reset: decide(.reset)
        case .garbage(let bytes): decide(.garbage(bytes))
        case .answer(let status, let headers):
            decide(.respond(LoopbackResponse(status: status, headers: headers)))
        case .cut, .drip, .wrongLength, nil: start(exchange)
        }
    }

    private func start(_ exchange: Exchange, after delay: Duration) {
        exchange.dueAt = loop.now.advanced(by: delay)
        exchange.hold = .timer(
            loop.after(delay) { [unowned self, unowned exchange] in
                exchange.hold = nil
                start(exchange)
                updateInterest()
            }
        )
    }

    private func start(_ exchange: Exchange) {
        if case .response(let response) = exchange.action, case .data = response.body {
            return decide(.respond(response))
        }
        let run = HandlerRun(id: exchange.id, request: exchange.request, action: exchange.action, mailbox: loop.mailbox)
        exchange.task = run.start()
    }

    /// Stores a decision that needs no handler: a fixed response, a reset or bytes that are not HTTP.
    ///
    /// The decision is carried out when the request is complete.
    private func decide(_ verdict: Exchange.Verdict) {
        exchange?.verdict = verdict
        exchange?.channel.discard()
        sendContinueIfExpected()
        carryOutVerdict()
    }

    /// If the request is complete, carries out the stored decision.
    func carryOutVerdict() {
        guard let exchange, exchange.isRequestComplete, let verdict = exchange.verdict else { return }
        exchange.verdict = nil
        switch verdict {
        case .respond(let response): respond(response)
        case .reset: close(byReset: true)
        case .garbage(let bytes):
            output.append(bytes)
            exchange.ending = .close
            flush()
        }
    }

    /// Sends "100 Continue" if the client waits for it.
    func sendContinueIfExpected() {
        guard let exchange, exchange.awaitsContinue, exchange.reply == nil else { return }
        exchange.hasSentContinue = true
        output.append(ResponseEncoder.encode(status: 100, reason: nil, headers: [:]))
        flush()
    }
}
