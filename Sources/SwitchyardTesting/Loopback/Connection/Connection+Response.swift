import Foundation
import SwitchyardClient

/// The number of bytes in the output queue above which the writer of a streamed body has to wait.
private let highWater = 65_536

extension Connection {
    /// Starts the response of the current exchange.
    ///
    /// If a response has already started, aborts it.
    func respond(_ response: LoopbackResponse) {
        guard let exchange, exchange.ending == nil else { return }
        guard exchange.reply == nil else { return fail() }
        if let bytes = response.rawBytes {
            output.append(bytes)
            follow(response.followers, isKept: false)
            exchange.ending = .close
            return flush()
        }
        // The handler may still read the request's body to produce a streamed response.
        if case .stream = response.body { sendContinueIfExpected() } else { exchange.channel.discard() }
        // If the client still waits for "100 Continue", the server cannot know whether the body will follow. In this
        // case, the server cannot find the start of the next request, so the connection is closed.
        let closes = exchange.awaitsContinue
        let reply = Reply(response, to: exchange.head, closes: closes, fault: exchange.effect)
        exchange.reply = reply
        loop.board.recordStatus(response.status, of: exchange.request.number)
        send(reply.opening())
        guard exchange.ending == nil else { return flush() }
        guard reply.carriesBody else { return finish() }
        guard case .data(let bytes) = response.body else { return flush() }
        write(bytes, nil)
        finish()
    }

    /// Sends a chunk of a streamed body.
    ///
    /// The acknowledgement is called when the next chunk can be written.
    func write(_ piece: Data, _ acknowledgement: Acknowledgement?) {
        guard let exchange, exchange.reply != nil, exchange.ending == nil, !exchange.isBodyComplete else {
            acknowledgement?.call(false)
            return
        }
        if let acknowledgement { exchange.acknowledgements.append(acknowledgement) }
        if let drip = exchange.reply?.drip {
            exchange.dripping.append(piece)
            if exchange.dripTimer == nil { dripNext(drip.bytes, drip.interval) }
        } else if let result = exchange.reply?.body(piece) {
            send(result)
        }
        flush()
    }

    /// Ends the response after all its bytes have been sent, including the bytes that ``Fault/drip(bytes:every:)``
    /// delays.
    func finish() {
        guard let exchange, let reply = exchange.reply, exchange.ending == nil else { return }
        exchange.isBodyComplete = true
        exchange.channel.discard()
        guard exchange.dripping.isEmpty else { return flush() }
        send(reply.end())
        follow(reply.followers, isKept: exchange.ending == .keepAlive)
        flush()
    }

    /// Aborts the response before it is complete.
    func fail() {
        guard let exchange, exchange.ending == nil else { return }
        exchange.ending = .close
        flush()
    }

    /// Writes as many bytes as the socket accepts, and then resumes the writers whose bytes were sent.
    func flush() {
        guard phase != .closed, !loop.isSilent else { return }
        if !output.isEmpty {
            let result = output.flush { Socket.send(descriptor, $0) }
            if case .failed = result { return close() }
        }
        releaseWriters()
        if output.isEmpty {
            if let ending = exchange?.ending { end(ending) }
            if isRefused { linger() }
        }
        updateInterest()
    }

    /// If the response has been sent and the request has been read completely, continues with the next request.
    func endExchangeIfDone() {
        guard let exchange, exchange.isAnswered, exchange.isRequestComplete else { return }
        _ = removeExchange()
        becomeIdle()
        advance()
    }

    private func end(_ ending: Reply.Ending) {
        guard let exchange, !exchange.isAnswered else { return }
        exchange.isAnswered = true
        loop.board.change { $0.statistics.responsesSent += 1 }
        switch ending {
        case .keepAlive: endExchangeIfDone()
        case .reset: close(byReset: true)
        case .close:
            abandonExchange()
            linger()
        }
    }

    private func send(_ result: Reply.Output) {
        output.append(result.bytes)
        if let ending = result.ending {
            exchange?.ending = ending
            exchange?.dripping = Data()
        }
    }

    private func releaseWriters() {
        guard let exchange, !exchange.acknowledgements.isEmpty else { return }
        guard exchange.ending != nil || output.count + exchange.dripping.count <= highWater else { return }
        let acknowledgements = exchange.acknowledgements
        exchange.acknowledgements = []
        for acknowledgement in acknowledgements { acknowledgement.call(true) }
    }

    private func dripNext(_ count: Int, _ interval: Duration) {
        guard let exchange else { return }
        if let result = exchange.reply?.body(Data(exchange.dripping.prefix(count))) {
            exchange.dripping = Data(exchange.dripping.dropFirst(count))
            send(result)
        }
        exchange.dripTimer = loop.after(interval) { [unowned self, unowned exchange] in
            exchange.dripTimer = nil
            guard !exchange.dripping.isEmpty else { return }
            dripNext(count, interval)
            if exchange.dripping.isEmpty, exchange.isBodyComplete { finish() } else { flush() }
        }
    }
}
