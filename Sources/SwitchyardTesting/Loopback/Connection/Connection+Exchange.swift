import Foundation
import SwitchyardClient
import SwitchyardHTTP

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
        guard let exchange = removeExchange() else { return }
        // In this order, so that a handler which reads learns why.
        exchange.channel.finish(.failure(.connectionClosed))
        exchange.task?.cancel()
        for acknowledgement in exchange.acknowledgements { acknowledgement.call(false) }
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
        case .delay(let delay):
            exchange.hold = .timer(
                loop.after(delay) { [unowned self, unowned exchange] in
                    exchange.hold = nil
                    start(exchange)
                    updateInterest()
                }
            )
        case .reset: decide(.reset)
        case .garbage(let bytes): decide(.garbage(bytes))
        case .answer(let status, let headers):
            decide(.respond(LoopbackResponse(status: status, headers: headers)))
        case .cut, .drip, .wrongLength, nil: start(exchange)
        }
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
