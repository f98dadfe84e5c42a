import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// One request on a connection and what has become of it; touched by the loop's thread alone.
final class Exchange {
    /// Why an exchange does not go on yet.
    enum Hold {
        case fault(Int)
        case timer(TimerQueue.Token)
    }

    /// What is done as soon as the request is complete.
    enum Verdict {
        case respond(LoopbackResponse)
        case reset
        case garbage(Data)
    }

    let id: ExchangeID
    let head: RequestHead
    let request: LoopbackRequest
    let action: RouteAction
    var effect: FaultEffect?
    var hold: Hold?
    /// Whether the request is executed although its client has gone.
    var survivesClient = false
    /// When a hold by a timer ends.
    var dueAt: MonotonicTime?
    var verdict: Verdict?
    var task: Task<Void, Never>?
    var isRequestComplete = false
    var hasSentContinue = false
    var hasBodyBegun = false

    /// The response, from its head on.
    var reply: Reply?
    /// Bytes that the drip fault keeps back.
    var dripping = Data()
    var dripTimer: TimerQueue.Token?
    var isBodyComplete = false
    /// Writers that wait until their bytes have left.
    var acknowledgements: [Acknowledgement] = []
    /// What becomes of the connection when everything has been sent.
    var ending: Reply.Ending?
    var isAnswered = false

    var channel: RequestBodyChannel { request.body.channel }

    /// Whether the client still waits for "100 Continue", as far as one can know.
    var awaitsContinue: Bool {
        head.expectsContinue && !hasSentContinue && !hasBodyBegun && !isRequestComplete
    }

    init(id: ExchangeID, head: RequestHead, request: LoopbackRequest, action: RouteAction, effect: FaultEffect?) {
        self.id = id
        self.head = head
        self.request = request
        self.action = action
        self.effect = effect
    }
}

/// Runs a handler outside the loop and sends it what comes of it.
struct HandlerRun: Sendable {
    let id: ExchangeID
    let request: LoopbackRequest
    let action: RouteAction
    let mailbox: Mailbox

    func start() -> Task<Void, Never> {
        Task { await run() }
    }

    private func run() async {
        do {
            let response = try await response()
            guard mailbox.post(.respond(id, response)) else { return }
            try await produceBody(of: response)
        } catch is CancellationError {
            _ = mailbox.post(.fail(id))
        } catch LoopbackError.connectionClosed, LoopbackError.cancelled {
            _ = mailbox.post(.fail(id))
        } catch let LoopbackError.bodyTooLarge(limit) {
            _ = mailbox.post(.respond(id, .text("the body is larger than \(limit) bytes\n", status: 413)))
        } catch {
            // Once the head has been sent, the loop takes a second response for a failure.
            _ = mailbox.post(.respond(id, .text("\(error)\n", status: 500)))
        }
    }

    private func response() async throws -> LoopbackResponse {
        switch action {
        case .response(let response): response
        case .handler(let handler): try await handler(request)
        }
    }

    private func produceBody(of response: LoopbackResponse) async throws {
        guard response.rawBytes == nil, case .stream(_, let produce) = response.body, request.method != .head else {
            return
        }
        try await produce(LoopbackBodyWriter(exchange: id, mailbox: mailbox))
        _ = mailbox.post(.finish(id))
    }
}
