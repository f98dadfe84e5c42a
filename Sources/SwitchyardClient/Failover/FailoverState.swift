import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The state of one request on its way to exactly one end: a pure state machine.
///
/// The machine is told what happened and says what to do; ``Failover`` does it, after the lock is released.
///
///     ready --begin--> running --attempts start and end--> ended
///       \________________ cancel, deadline _______________/
struct FailoverState {
    /// One attempt of the request.
    struct Attempt {
        let route: ServerPool.Route
        var url: RequestURL
        /// The redirects that were followed; `nil` while there are none.
        var trail: Boxed<RedirectTrail>?
        let startedAt: MonotonicTime
        /// When its bytes moved; `nil` unless its body is large.
        let activity: BodyActivity?
        /// Whether the credential was put into its first request.
        let isAuthorized: Bool
        /// How often it was sent on.
        var hops = 0
        /// The transfer of the last hop.
        var task: (any TransportTask)?
        var outcome: AttemptOutcome?

        /// What its body is charged to; `nil` when a redirect has led it elsewhere.
        var chargeable: SwitchyardServices.Attempt? { trail?.value.hasLeft == true ? nil : route.attempt }

        /// Whether the credential is for the one who was asked last, or was shown to it all the same.
        func isHome(_ authorization: RequestAuthorization?) -> Bool {
            guard let trail = trail?.value else { return isAuthorized || url.isAt(route.home) }
            let isShown = authorization?.names.contains { trail.request.headers[$0] != nil } ?? false
            return isShown || !trail.hasLeft && url.isAt(route.home)
        }
    }

    /// What remains to be done when the request has ended.
    ///
    /// Handed out once.
    struct Ending {
        var result: Result<HTTPResponse, RequestFailure.Reason>
        var winner: Int?
        /// Without a winner the attempt whose end is the result; `nil` when none's is.
        var mostTelling: Int?
        var attempts: ContiguousArray<Attempt> = []
        var timer: (any ScheduledTimer)?
        /// Whether the deadline ended the request, and no attempt's answer is what it ends with.
        var isOverdue = false
        /// Whether an attempt that has ended may have been executed without an answer that says so.
        var mayHaveBeenExecuted = false
        /// What became of the request in all attempts.
        var fate = RequestFate.unsent

        /// The attempt that gave the result.
        var decisive: Int? { winner ?? mostTelling ?? attempts.indices.last }

        /// Ends the transfers of the attempts that have no answer yet.
        mutating func cancelUnanswered() {
            for index in attempts.indices where attempts[index].outcome == nil {
                // What another server's answer has overtaken goes silently.
                if case .failure = result, let watched = attempts[index].task as? WatchedAttempt {
                    watched.tell(.failure(TransportError(.cancelled, message: "the request has ended")))
                }
                // Who has sent an attempt on has had it; and one that is still on its way to its transport may get there.
                let isUnsent = attempts[index].task?.withdraw() ?? false
                guard !isUnsent || attempts[index].hops > 0 else { continue }
                (mayHaveBeenExecuted, fate) = (true, .open)
            }
        }

        /// What an attempt is charged with.
        ///
        /// One that had not ended was overtaken by another server's answer, or failed to answer by the deadline; its
        /// server is charged with nothing when the caller ended the request, or when it had been sent on to a foreign
        /// one.
        func outcome(of index: Int) -> AttemptOutcome {
            if let outcome = attempts[index].outcome { return outcome }
            if attempts[index].trail?.value.hasLeft ?? false { return .neutral }
            if isOverdue { return .failure(.timeout) }
            return if case .success = result { .unfinished } else { unanswered }
        }

        /// The outcome of an attempt that was ended before its server could be expected to answer.
        ///
        /// The server had the request, so what the attempt cost does not come back; where another one's answer ended
        /// the request, it was not overtaken by one that the caller could use.
        var unanswered: AttemptOutcome { winner == nil ? .unfinished : .neutral }
    }

    /// A refusal by an extra attempt, while the server that was asked first may still answer.
    private struct Refusal {
        var index: Int
        var result: Result<HTTPResponse, RequestFailure.Reason>
        var status: Int
    }

    /// A request whose last attempt has failed, and that may go on once the budget allows it.
    struct Held {
        /// How the attempt failed.
        var kind: FailureKind?
        /// When it first had to wait.
        var since: MonotonicTime
    }

    /// What a timer finds when it fires.
    enum Look {
        /// The request waits for a token; it does so no longer.
        case held(Held)
        /// An attempt is slow; the number is that of the timer to set.
        case slow(Attempt?, tried: [Server.ID], timer: Int)
    }

    /// What became of an attempt while it was being started.
    enum Attachment {
        /// It waits for its answer.
        case waiting
        /// Its answer came at once.
        case answered
        /// The request has ended meanwhile; the attempt must be cancelled if it is still under way.
        case unwanted
    }

    /// What follows from the end of an attempt.
    enum Step {
        /// The request had ended before; nothing is left to do.
        case none
        /// The attempt failed; another may be tried.
        case tryAnother
        /// The request has ended.
        case end(Ending)
    }

    private enum Phase { case ready, running, ended }

    private var phase = Phase.ready
    private var attempts: ContiguousArray<Attempt> = []
    private var live = 0
    /// The attempt whose answer ended the request.
    ///
    /// Its body may still be arriving.
    private var winner: Int?
    private var lastResult: Result<HTTPResponse, RequestFailure.Reason>?
    /// The attempt that gave it.
    private var mostTelling: Int?
    /// Whether an attempt may have been executed without an answer that says so.
    private var mayHaveBeenExecuted = false
    /// What became of the request in the attempts that have ended.
    private(set) var fate = RequestFate.unsent
    /// The method of the requests, where it is not that of the call, and unsafe.
    var changedMethod: HTTPMethod?
    /// What an extra attempt was refused with, while an older one waits for its answer.
    private var refusal: Boxed<Refusal>?
    /// Waits for a token that lets it go on to another server.
    private var held: Boxed<Held>?
    private var timer: (any ScheduledTimer)?
    /// The number of the timer that was decided on last.
    private var timerNumber = 0

    /// Whether the request has ended.
    var hasEnded: Bool { phase == .ended }

    /// The servers that have been tried, by name: their places in the list may change while the request is under way.
    var tried: [Server.ID] {
        attempts.compactMap { $0.route.attempt == nil ? nil : $0.route.server }
    }

    /// Whether an attempt has taken a token, which pays for those after it.
    var isPaidFor: Bool { attempts.contains { $0.route.attempt?.isPaid == true } }

    /// Whether an attempt led elsewhere than to the service's servers, which nobody else will answer better.
    var hasLeft: Bool { attempts.contains { $0.route.attempt == nil } }

    /// The newest attempt that is still waiting for its answer.
    var newestLive: Attempt? { attempts.last { $0.outcome == nil } }

    /// Whether an attempt is still waiting for its answer.
    var isWaiting: Bool { live > 0 && phase == .running }

    /// Starts the request; `false` when it was cancelled before.
    mutating func begin() -> Bool {
        guard phase == .ready else { return false }
        phase = .running
        return true
    }

    /// Enters an attempt; `nil` when the request has ended.
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

    /// Keeps the handle of a transfer, unless its answer is there already; when that was a redirect, the next hop may have
    /// left its own handle before this one comes.
    mutating func attach(_ task: any TransportTask, to index: Int, hop: Int = 0) -> Attachment {
        guard phase == .running else { return index == winner ? .answered : .unwanted }
        guard attempts[index].outcome == nil else { return .answered }
        if attempts[index].hops == hop { attempts[index].task = task }
        return .waiting
    }

    /// The attempt, while it waits for its answer; `nil` when it or the request has ended.
    func unanswered(_ index: Int) -> Attempt? {
        guard phase == .running, attempts[index].outcome == nil else { return nil }
        return attempts[index]
    }

    /// Lets the attempt go on at another URL; the number of the hop, `nil` when the attempt or the request has ended.
    mutating func redirect(_ index: Int, along trail: RedirectTrail) -> Int? {
        guard unanswered(index) != nil else { return nil }
        attempts[index].hops += 1
        attempts[index].task = nil
        attempts[index].url = trail.request.url
        attempts[index].trail = Boxed(trail)
        return attempts[index].hops
    }

    /// The number of a timer that is about to be set, in place of all before it.
    mutating func claimTimer() -> Int {
        timerNumber += 1
        return timerNumber
    }

    /// Keeps the timer and hands back the one before; hands back the new one when the request needs it no longer, or when
    /// it has fired before it came here and another has been decided on.
    mutating func replaceTimer(_ newTimer: any ScheduledTimer, number: Int) -> (any ScheduledTimer)? {
        guard phase == .running, number == timerNumber else { return newTimer }
        defer { timer = newTimer }
        return timer
    }

    /// Takes note of the end of an attempt, and of what became of its request.
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
            // It says nothing about the request either, which another server is about to answer.
            keepMostTelling(result, of: index)
            return .none
        }
        if let step = weigh(outcome, result, of: index) { return step }
        // Where nothing leads away from this machine, a server on it still answers.
        guard outcome.failureKind != nil || (outcome.isNeutral && result.isOffline) else {
            guard let ending = end(with: result, winner: index) else { return .none }
            return .end(ending)
        }
        keepMostTelling(result, of: index)
        return .tryAnother
    }

    /// Weighs a refusal (4xx) by an extra attempt against the server that was asked first and has not answered yet.
    ///
    /// Without the extra attempt the caller would have had that one's answer. So the refusal waits for it, unless another
    /// server refuses in the same way; and where the first one fails, the refusal is the answer.
    ///
    /// - Returns: What follows; `nil` when there is nothing to weigh.
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

    /// The server for whose answer a refusal by another one waits; `nil` when none does.
    var suspect: ServerPool.Route? {
        guard phase == .running, let refusal else { return nil }
        return attempts[..<refusal.value.index].first { $0.outcome == nil }?.route
    }

    /// The refusal that waits for an answer of this server, which will not come any more.
    mutating func takeRefusal(waitingFor server: Server.ID) -> Ending? {
        guard let refusal, phase == .running else { return nil }
        let others = attempts.contains { $0.outcome == nil && $0.route.server != server }
        return others ? nil : end(with: refusal.value.result, winner: refusal.value.index)
    }

    /// Lets the request wait until another server may be asked; the number of the timer to set, `nil` when an attempt is
    /// still waiting for its answer, or the request has ended.
    mutating func hold(_ reason: Held) -> Int? {
        guard phase == .running, live == 0 else { return nil }
        held = Boxed(reason)
        return claimTimer()
    }

    /// Says what there is to do when a timer has fired.
    ///
    /// In one step: a request that is held in between would lose its timer to the one that is claimed here.
    mutating func look() -> Look {
        guard phase == .running, let reason = held else { return .slow(newestLive, tried: tried, timer: claimTimer()) }
        held = nil
        return .held(reason.value)
    }

    /// Ends the request with what its attempts gave, unless one is still waiting for its answer.
    mutating func giveUp() -> Ending? {
        guard live == 0, let lastResult, var ending = end(with: lastResult) else { return nil }
        ending.mostTelling = mostTelling
        return ending
    }

    /// Ends the request, whatever its attempts are doing; `nil` when it has ended before.
    mutating func end(with result: Result<HTTPResponse, RequestFailure.Reason>, winner: Int? = nil) -> Ending? {
        guard phase != .ended else { return nil }
        phase = .ended
        var (result, winner) = (result, winner)
        var telling: Int?
        let isOverdue = result.isDeadline
        if isOverdue {
            // What a server has answered, though it be a refusal or an error, says more than that the time is over.
            if let refusal {
                (result, winner) = (refusal.value.result, refusal.value.index)
            } else if case .success? = lastResult, let lastResult {
                (result, telling) = (lastResult, mostTelling)
            }
        }
        self.winner = winner
        lastResult = nil
        refusal = nil
        var ending = Ending(result: result, winner: winner)
        ending.mayHaveBeenExecuted = mayHaveBeenExecuted
        ending.fate = fate
        ending.mostTelling = telling
        ending.isOverdue = isOverdue && winner == nil
        swap(&ending.attempts, &attempts)
        swap(&ending.timer, &timer)
        return ending
    }

    /// An answer, even a refusing one, says more than a broken connection.
    private mutating func keepMostTelling(_ result: Result<HTTPResponse, RequestFailure.Reason>, of index: Int) {
        if case .success = lastResult, case .failure = result { return }
        lastResult = result
        mostTelling = index
    }
}

extension Result where Success == HTTPResponse, Failure == RequestFailure.Reason {
    /// Whether the end of an attempt is an answer that is no error.
    fileprivate var isGood: Bool {
        if case .success(let response) = self { response.status < 400 } else { false }
    }

    /// Whether the time is over.
    fileprivate var isDeadline: Bool {
        if case .failure(.deadlineExceeded) = self { true } else { false }
    }

    /// Whether nothing was sent because this machine had no way to the server.
    fileprivate var isOffline: Bool {
        if case .failure(.transport(let error)) = self { error.kind == .offline } else { false }
    }
}
