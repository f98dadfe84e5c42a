import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A request on a connection, and the state of its response.
///
/// Only the event loop's thread accesses the exchange.
final class Exchange {
    /// The reason why an exchange is held, so that its handler does not run yet.
    enum Hold {
        case fault(Int)
        case timer(TimerQueue.Token)
    }

    /// A decision that needs no handler and is carried out when the request is complete.
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
    /// The time at which a delayed request is executed, or `nil` if the request is not delayed.
    var dueAt: MonotonicTime?
    var verdict: Verdict?
    var task: Task<Void, Never>?
    var isRequestComplete = false
    var hasSentContinue = false
    var hasBodyBegun = false

    /// The response that is being sent, or `nil` before its head is sent.
    var reply: Reply?
    /// The bytes of the response that ``Fault/drip(bytes:every:)`` delays.
    var dripping = Data()
    var dripTimer: TimerQueue.Token?
    var isBodyComplete = false
    /// The acknowledgements of writers that wait until their bytes have been sent.
    var acknowledgements: [Acknowledgement] = []
    /// The fate of the connection when all bytes have been sent, or `nil` while the response is not complete.
    var ending: Reply.Ending?
    var isAnswered = false

    var channel: RequestBodyChannel { request.body.channel }

    /// Whether the client still waits for "100 Continue", as far as the server can know.
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

/// A run of a handler outside the event loop.
///
/// The run posts its result to the event loop.
struct HandlerRun: Sendable {
    let id: ExchangeID
    let request: LoopbackRequest
    let action: RouteAction
    let mailbox: Mailbox

    /// Starts the handler.
    ///
    /// On Linux, each priority has its own threads. With a high priority, a response does not wait for tests that use
    /// the processor for long.
    func start() -> Task<Void, Never> {
        Task(priority: .high) { await run() }
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
            // If the head has already been sent, the event loop treats this second response as a failure.
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
