import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The state of one request until its single end: a pure state machine.
///
/// The machine receives events and returns effects; ``Failover`` performs them after the lock is released.
///
///     ready --begin--> running --attempts start and end--> ended
///       \________________ cancel, deadline _______________/
struct FailoverState {
    /// One attempt of the request.
    struct Attempt {
        let route: ServerPool.Route
        var url: RequestURL
        /// The redirects that were followed; `nil` if there are none.
        var trail: Boxed<RedirectChain>?
        let startedAt: MonotonicTime
        /// The activity of the body, or `nil` unless the body is large.
        let activity: BodyActivity?
        /// Whether the first request of the attempt carried the credential.
        let isAuthorized: Bool
        /// The number of redirects that the attempt followed.
        var hops = 0
        /// The handle of the transfer after the last redirect.
        var task: (any TransportTask)?
        var outcome: AttemptOutcome?

        /// The attempt that the body is charged to; `nil` if a redirect has led to another host.
        var chargeable: SwitchyardServices.Attempt? { trail?.value.hasLeft == true ? nil : route.attempt }

        /// Whether the credential belongs to the host of the last request, or was sent to it nevertheless.
        func isHome(_ authorization: RequestAuthorization?) -> Bool {
            guard let trail = trail?.value else { return isAuthorized || url.isAt(route.home) }
            let isShown = authorization?.names.contains { trail.request.headers[$0] != nil } ?? false
            return isShown || !trail.hasLeft && url.isAt(route.home)
        }
    }

    /// The effects that remain after the end of the request, returned once.
    struct Ending {
        var result: Result<HTTPResponse, RequestFailure.Reason>
        var winner: Int?
        /// The attempt whose end is the result if no attempt won; `nil` if there is none.
        var decisiveCandidate: Int?
        var attempts: ContiguousArray<Attempt> = []
        var timer: (any ScheduledTimer)?
        /// Whether the deadline ended the request and no attempt's response is its result.
        var isOverdue = false
        /// Whether an attempt that has ended may have been executed although no response confirms it.
        var mayHaveBeenExecuted = false
        /// The fate of the request over all attempts.
        var fate = RequestFate.unsent

        /// The attempt that determines the result.
        var decisive: Int? { winner ?? decisiveCandidate ?? attempts.indices.last }

        /// Ends the transfers of the attempts without a response.
        mutating func cancelAttemptsWithoutResponse() {
            for index in attempts.indices where attempts[index].outcome == nil {
                // A failure that another server's response has overtaken is not reported.
                if case .failure = result, let watched = attempts[index].task as? MonitoredAttempt {
                    watched.tell(.failure(TransportError(.cancelled, message: "the request has ended")))
                }
                // A server that redirected the attempt has received it, and an attempt that is being passed to its
                // transport may still be sent.
                let isUnsent = attempts[index].task?.withdraw() ?? false
                guard !isUnsent || attempts[index].hops > 0 else { continue }
                (mayHaveBeenExecuted, fate) = (true, .open)
            }
        }

        /// Returns the outcome that an attempt is charged with.
        ///
        /// An attempt that has not ended was overtaken by another server's response, or got no response by the
        /// deadline. Its server is charged with nothing if the caller ended the request or if the attempt was
        /// redirected to another host.
        func outcome(of index: Int) -> AttemptOutcome {
            if let outcome = attempts[index].outcome { return outcome }
            if attempts[index].trail?.value.hasLeft ?? false { return .neutral }
            if isOverdue { return .failure(.timeout) }
            return if case .success = result { .unfinished } else { withoutResponse }
        }

        /// The outcome of an attempt that ended before a response of its server could be expected.
        ///
        /// The server received the request, so the attempt's token does not come back. If another server's response
        /// ended the request, that response was not one that the caller could use.
        var withoutResponse: AttemptOutcome { winner == nil ? .unfinished : .neutral }
    }

    /// A refusal of an extra attempt while the first server may still respond.
    private struct Refusal {
        var index: Int
        var result: Result<HTTPResponse, RequestFailure.Reason>
        var status: Int
    }

    /// A request whose last attempt has failed and that may continue when the budget allows it.
    struct Held {
        /// The failure of the attempt.
        var kind: FailureKind?
        /// The time when the request first had to wait.
        var since: MonotonicTime
    }

    /// The state that a timer finds when it fires.
    enum Look {
        /// The request waited for a token and waits no longer.
        case held(Held)
        /// An attempt is slow.
        ///
        /// `timer` is the number of the next timer to set.
        case slow(Attempt?, tried: [Server.ID], timer: Int)
    }

    /// The state of an attempt after it was started.
    enum Attachment {
        /// The attempt waits for its response.
        case waiting
        /// The response arrived immediately.
        case answered
        /// The request has ended; the attempt must be cancelled if it is still in flight.
        case unwanted
    }

    /// The step after the end of an attempt.
    enum Step {
        /// Nothing follows, because the attempt or the request had already ended, or because another attempt continues.
        case none
        /// The attempt did not end the request, and another attempt may follow.
        case tryAnother
        /// The request has ended.
        case end(Ending)
    }

    private enum Phase { case ready, running, ended }

    private var phase = Phase.ready
    private var attempts: ContiguousArray<Attempt> = []
    private var live = 0
    /// The attempt whose response ended the request; its body may still be arriving.
    private var winner: Int?
    private var lastResult: Result<HTTPResponse, RequestFailure.Reason>?
    /// The attempt that ended with `lastResult`.
    private var decisiveCandidate: Int?
    /// Whether an attempt may have been executed although no response confirms it.
    private var mayHaveBeenExecuted = false
    /// The fate of the request in the attempts that have ended.
    private(set) var fate = RequestFate.unsent
    /// The method of the requests if it is unsafe and differs from that of the call.
    var changedMethod: HTTPMethod?
    /// The refusal of an extra attempt while an older one waits for its response.
    private var refusal: Boxed<Refusal>?
    /// The state of a request that waits for a token before it can fail over.
    private var held: Boxed<Held>?
    private var timer: (any ScheduledTimer)?
    /// The number of the newest timer.
    private var timerNumber = 0

    /// Whether the request has ended.
    var hasEnded: Bool { phase == .ended }

    /// The names of the servers that have been tried.
    ///
    /// Names are used because positions in the list may change during the request.
    var tried: [Server.ID] {
        attempts.compactMap { $0.route.attempt == nil ? nil : $0.route.server }
    }

    /// Whether an attempt has taken a token, which pays for the later ones.
    var isPaidFor: Bool { attempts.contains { $0.route.attempt?.isPaid == true } }

    /// Whether an attempt led to another host than the service's servers, so that no other server can respond better.
    var hasLeft: Bool { attempts.contains { $0.route.attempt == nil } }

    /// The newest attempt that waits for its response.
    var newestLive: Attempt? { attempts.last { $0.outcome == nil } }

    /// Whether an attempt waits for its response.
    var isWaiting: Bool { live > 0 && phase == .running }

    /// Starts the request, and returns `false` if it was cancelled before.
    mutating func begin() -> Bool {
        guard phase == .ready else { return false }
        phase = .running
        return true
    }

    /// Adds an attempt and returns its index, or `nil` if the request is not running.
    mutating func add(
        _ route: ServerPool.Route,
        url: RequestURL,
        _ activity: BodyActivity? = nil,
        isAuthorized: Bool = false,
        at now: MonotonicTime
    ) -> Int? {
        guard phase == .running else { return nil }
        attempts.append(
            Attempt(route: route, url: url, startedAt: now, activity: activity, isAuthorized: isAuthorized)
        )
        live += 1
        held = nil  // Two may have looked for another server at the same time: this one has found it.
        return attempts.count - 1
    }

    /// Stores the handle of a transfer, unless its response has arrived; if that was a redirect, the next hop may have
    /// stored its own handle before this one.
    mutating func attach(_ task: any TransportTask, to index: Int, hop: Int = 0) -> Attachment {
        guard phase == .running else { return index == winner ? .answered : .unwanted }
        guard attempts[index].outcome == nil else { return .answered }
        if attempts[index].hops == hop { attempts[index].task = task }
        return .waiting
    }

    /// Returns the attempt while it waits for its response; `nil` if the attempt or the request has ended.
    func withoutResponse(_ index: Int) -> Attempt? {
        guard phase == .running, attempts[index].outcome == nil else { return nil }
        return attempts[index]
    }

    /// Moves the attempt to the target of a redirect.
    ///
    /// - Returns: The number of redirects so far, or `nil` if the attempt or the request has ended.
    mutating func redirect(_ index: Int, along trail: RedirectChain) -> Int? {
        guard withoutResponse(index) != nil else { return nil }
        attempts[index].hops += 1
        attempts[index].task = nil
        attempts[index].url = trail.request.url
        attempts[index].trail = Boxed(trail)
        return attempts[index].hops
    }

    /// Returns the number of a timer that is about to be set and that replaces all earlier timers.
    mutating func claimTimer() -> Int {
        timerNumber += 1
        return timerNumber
    }

    /// Stores the timer and returns the timer to cancel.
    ///
    /// This is the previous timer. It is the new timer if the request has ended, or if a newer timer has been claimed
    /// because the new one has already fired.
    mutating func replaceTimer(_ newTimer: any ScheduledTimer, number: Int) -> (any ScheduledTimer)? {
        guard phase == .running, number == timerNumber else { return newTimer }
        defer { timer = newTimer }
        return timer
    }

    /// Records the end of an attempt and the fate of its request.
    mutating func attemptEnded(
        _ index: Int,
        _ outcome: AttemptOutcome,
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        _ fate: RequestFate
    ) -> Step {
        guard phase == .running, attempts[index].outcome == nil else { return .none }
        attempts[index].outcome = outcome
        attempts[index].task = nil
        live -= 1
        self.fate = max(self.fate, fate)
        if fate.mayHaveBeenExecuted, !result.isGood { mayHaveBeenExecuted = true }
        if live > 0, outcome.isNeutral, case .failure = result {
            // The failure says nothing about the request, to which another server is about to respond.
            keepDecisive(result, of: index)
            return .none
        }
        if let step = weigh(outcome, result, of: index) { return step }
        // If the machine has no network, a server on the machine itself still responds.
        guard outcome.failureKind != nil || (outcome.isNeutral && result.isOffline) else {
            guard let ending = end(with: result, winner: index) else { return .none }
            return .end(ending)
        }
        keepDecisive(result, of: index)
        return .tryAnother
    }

    /// Weighs a refusal (4xx) of an extra attempt against the first server, which has not responded yet.
    ///
    /// Without the extra attempt the caller would have got the first server's response. So the refusal waits for it,
    /// unless another server refuses in the same way. If the first server fails, the refusal is the result.
    ///
    /// - Returns: The next step; `nil` if there is nothing to weigh.
    private mutating func weigh(
        _ outcome: AttemptOutcome,
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        of index: Int
    ) -> Step? {
        if outcome.failureKind != nil, live == 0, let refusal { return deliver(refusal.value) }
        guard case .answered = outcome, case .success(let response) = result,
            attempts[..<index].contains(where: { $0.outcome == nil })
        else { return nil }
        if let refusal, refusal.value.status == response.status { return nil }
        refusal = refusal ?? Boxed(Refusal(index: index, result: result, status: response.status))
        return .tryAnother
    }

    private mutating func deliver(_ refusal: Refusal) -> Step {
        end(with: refusal.result, winner: refusal.index).map(Step.end) ?? .none
    }

    /// The server whose response a refusal of another server waits for; `nil` if there is none.
    var suspect: ServerPool.Route? {
        guard phase == .running, let refusal else { return nil }
        return attempts[..<refusal.value.index].first { $0.outcome == nil }?.route
    }

    /// Ends the request with the refusal that waited for a response of this server, which will not arrive any more.
    mutating func takeRefusal(waitingFor server: Server.ID) -> Ending? {
        guard let refusal, phase == .running else { return nil }
        let others = attempts.contains { $0.outcome == nil && $0.route.server != server }
        return others ? nil : end(with: refusal.value.result, winner: refusal.value.index)
    }

    /// Lets the request wait until another server may be tried.
    ///
    /// Returns the number of the timer to set; `nil` if an attempt still waits for its response or the request has
    /// ended.
    mutating func hold(_ reason: Held) -> Int? {
        guard phase == .running, live == 0 else { return nil }
        held = Boxed(reason)
        return claimTimer()
    }

    /// Returns the step to take after a timer has fired.
    ///
    /// This is one atomic step, because a request that is held in between would lose its timer to the one that is
    /// claimed here.
    mutating func look() -> Look {
        guard phase == .running, let reason = held else { return .slow(newestLive, tried: tried, timer: claimTimer()) }
        held = nil
        return .held(reason.value)
    }

    /// Ends the request with the result of its attempts, unless one still waits for its response.
    mutating func giveUp() -> Ending? {
        guard live == 0, let lastResult, var ending = end(with: lastResult) else { return nil }
        ending.decisiveCandidate = decisiveCandidate
        return ending
    }

    /// Ends the request, whatever the state of its attempts, or returns `nil` if the request has already ended.
    mutating func end(with result: Result<HTTPResponse, RequestFailure.Reason>, winner: Int? = nil) -> Ending? {
        guard phase != .ended else { return nil }
        phase = .ended
        var (result, winner) = (result, winner)
        var telling: Int?
        let isOverdue = result.isDeadline
        if isOverdue {
            // A server's response, even a refusal or an error, is more significant than the expired time.
            if let refusal {
                (result, winner) = (refusal.value.result, refusal.value.index)
            } else if case .success? = lastResult, let lastResult {
                (result, telling) = (lastResult, decisiveCandidate)
            }
        }
        self.winner = winner
        lastResult = nil
        refusal = nil
        var ending = Ending(result: result, winner: winner)
        ending.mayHaveBeenExecuted = mayHaveBeenExecuted
        ending.fate = fate
        ending.decisiveCandidate = telling
        ending.isOverdue = isOverdue && winner == nil
        swap(&ending.attempts, &attempts)
        swap(&ending.timer, &timer)
        return ending
    }

    /// Stores the most significant result: a response, even a refusal, is more significant than a lost connection.
    private mutating func keepDecisive(_ result: Result<HTTPResponse, RequestFailure.Reason>, of index: Int) {
        if case .success = lastResult, case .failure = result { return }
        lastResult = result
        decisiveCandidate = index
    }
}

extension Result where Success == HTTPResponse, Failure == RequestFailure.Reason {
    /// Whether the attempt ended with a response that is not an error.
    fileprivate var isGood: Bool {
        if case .success(let response) = self { response.status < 400 } else { false }
    }

    /// Whether the deadline has passed.
    fileprivate var isDeadline: Bool {
        if case .failure(.deadlineExceeded) = self { true } else { false }
    }

    /// Whether nothing was sent because the device had no network path to the server.
    fileprivate var isOffline: Bool {
        if case .failure(.transport(let error)) = self { error.kind == .offline } else { false }
    }
}
