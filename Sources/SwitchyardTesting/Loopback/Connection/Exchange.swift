import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A request on a connection and the state of its response; only the event loop's thread accesses it.
final class Exchange {
    /// The reason why an exchange is held.
    enum Hold {
        case fault(Int)
        case timer(TimerQueue.Token)
    }

    /// The decision that is carried out when the request is complete.
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
    /// Whether the request is executed even if its client has disconnected.
    var survivesClient = false
    /// The time at which a hold by a timer ends.
    var dueAt: MonotonicTime?
    var verdict: Verdict?
    var task: Task<Void, Never>?
    var isRequestComplete = false
    var hasSentContinue = false
    var hasBodyBegun = false

    /// The response, starting with its head.
    var reply: Reply?
    /// Bytes that the drip fault delays.
    var dripping = Data()
    var dripTimer: TimerQueue.Token?
    var isBodyComplete = false
    /// The writers that wait until their bytes have been sent.
    var acknowledgements: [Acknowledgement] = []
    /// The treatment of the connection after all bytes have been sent.
    var ending: Reply.Ending?
    var isAnswered = false

    var channel: RequestBodyChannel { request.body.channel }

    /// Whether the client still waits for "100 Continue", as far as the server knows.
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

/// A handler that runs outside the event loop and posts its result to the loop.
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
            // If the head has already been sent, the event loop treats a second response as a failure.
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
