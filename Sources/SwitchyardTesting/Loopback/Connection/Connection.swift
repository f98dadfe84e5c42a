import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// One accepted connection: reads requests one after the other, and sends their responses in that order.
///
/// Touched by the loop's thread alone. Reading stops while a request waits for its response and more than a bounded
/// number of bytes of later requests are there already. A client that closes its side while it waits for a response is
/// taken to have gone: the handler's task is cancelled.
final class Connection {
    /// What the connection is still good for.
    enum Phase {
        case open
        /// Nothing more is sent; what still comes is thrown away, so that no reset destroys the last response.
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
    /// Requests whose heads have arrived.
    var requestCount = 0
    /// The timers of bytes that follow a response, by their numbers.
    private var followerTimers: [Int: any ScheduledTimer] = [:]
    private var lastFollower = 0
    /// Whether what came is not HTTP, so that only the answer to that is left to send.
    private(set) var isRefused = false
    private var lingerTimer: TimerQueue.Token?
    /// Since when no request has been under way.
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

    /// Tells the poller what to wait for; while the network is silent, for nothing at all.
    func updateInterest() {
        guard phase != .closed else { return }
        guard !loop.isSilent else { return loop.poller.forget(descriptor) }
        var interest: Interest = []
        if wantsToRead { interest.insert(.read) }
        if !output.isEmpty { interest.insert(.write) }
        loop.poller.watch(descriptor, for: interest)
    }

    /// Reads, writes or closes, as the socket allows.
    func handle(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        if wantsToRead {
            // A hang-up shows in what is read, behind the bytes that came before it.
            if !readiness.isDisjoint(with: [.readable, .hungUp]) { read() }
        } else if readiness.contains(.hungUp) {
            close()
        }
        updateInterest()
    }

    /// Closes the socket, cancels the handler and ends everything that waits for the connection.
    func close(byReset: Bool = false) {
        guard phase != .closed else { return }
        phase = .closed
        if let lingerTimer { loop.timers.cancel(lingerTimer) }
        if let idleTimer { loop.timers.cancel(idleTimer) }
        for timer in followerTimers.values { timer.cancel() }
        loop.poller.forget(descriptor)
        abandonExchange()
        if byReset { Socket.reset(descriptor) } else { Socket.close(descriptor) }
        loop.remove(self)
    }

    /// Closes the connection once the client has closed its side, or after a while.
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

// MARK: - Idleness

extension Connection {
    /// Takes note that no request is under way from now on.
    func becomeIdle() {
        idleSince = loop.now
        if idleTimer == nil { watchIdleness() }
    }

    /// Looks at the connection when it could have been idle for too long, rather than at every request.
    private func watchIdleness() {
        guard let timeout = loop.board.limits.idleTimeout else { return }
        idleTimer = loop.timers.add(at: idleSince.advanced(by: timeout)) { [unowned self] in
            idleTimer = nil
            // A request that is under way looks again when it has ended.
            guard phase == .open, exchange == nil else { return }
            // No end comes through while packets are lost.
            if loop.isSilent { idleSince = loop.now }
            if idleSince.advanced(by: timeout) > loop.now { watchIdleness() } else { close() }
        }
    }
}

// MARK: - Bytes behind a response

extension Connection {
    /// Sends what follows a response: at once what has no delay, the rest when it is due on a connection that is kept.
    func follow(_ followers: [Follower], isKept: Bool) {
        for follower in followers {
            guard follower.delay > .zero else {
                output.append(follower.bytes)
                continue
            }
            if isKept { send(follower) }
        }
    }

    /// Sends the bytes of a follower whose time has come.
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
        // The clock may belong to any thread.
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

    /// Takes what the parser has, until more bytes or the end of a response are needed.
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

    /// Answers what is not HTTP with its status, unless a response is under way, and closes.
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
    /// Starts with a request whose head has arrived.
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

    /// Lets a held exchange go on when its fault has gone.
    func reconsiderHold() {
        guard let exchange, case .fault(let fault) = exchange.hold, !loop.board.holds(fault, at: loop.now) else {
            return
        }
        exchange.hold = nil
        exchange.effect = loop.board.effect(for: exchange.head, at: loop.now)
        proceed(exchange)
        updateInterest()
    }

    /// The handler reads, or the server needs the body itself: asks the client for it.
    func readMore() {
        sendContinueIfExpected()
        updateInterest()
    }

    /// Ends the exchange without a response, since the connection is lost.
    func abandonExchange() {
        guard let exchange, !leavesForLateExecution(exchange), removeExchange() != nil else { return }
        // In this order, so that a handler which reads learns why.
        exchange.channel.finish(.failure(.connectionClosed))
        exchange.task?.cancel()
        for acknowledgement in exchange.acknowledgements { acknowledgement.call(false) }
    }

    /// Hands a request to the loop that is executed although its client has gone; `false` when it is not.
    private func leavesForLateExecution(_ exchange: Exchange) -> Bool {
        guard exchange.isExecutedLate else { return false }
        self.exchange = nil
        if case .timer(let token) = exchange.hold { loop.timers.cancel(token) }
        if let token = exchange.dripTimer { loop.timers.cancel(token) }
        for acknowledgement in exchange.acknowledgements { acknowledgement.call(false) }
        loop.executeLate(exchange)
        return true
    }

    /// Takes the exchange off the connection, and with it its timers.
    func removeExchange() -> Exchange? {
        guard let exchange else { return nil }
        self.exchange = nil
        if case .timer(let token) = exchange.hold { loop.timers.cancel(token) }
        if let token = exchange.dripTimer { loop.timers.cancel(token) }
        loop.board.change { $0.statistics.requestsInProgress -= 1 }
        return exchange
    }

    /// Does what the fault says, or else what the route says.
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

    /// Keeps a decision that needs no handler until the request is complete.
    private func decide(_ verdict: Exchange.Verdict) {
        exchange?.verdict = verdict
        exchange?.channel.discard()
        sendContinueIfExpected()
        carryOutVerdict()
    }

    /// Carries a decision out if the request is complete.
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

    /// Asks the client for the body if it waits for that.
    func sendContinueIfExpected() {
        guard let exchange, exchange.awaitsContinue, exchange.reply == nil else { return }
        exchange.hasSentContinue = true
        output.append(ResponseEncoder.encode(status: 100, reason: nil, headers: [:]))
        flush()
    }
}
