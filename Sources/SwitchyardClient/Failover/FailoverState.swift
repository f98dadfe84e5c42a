import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// The state of one request, as a pure state machine with a single end.
///
/// The state machine receives events and returns effects. ``Failover`` performs the effects after the lock is released.
///
///     ready --begin--> running --attempts start and end--> ended
///       \________________ cancel, deadline _______________/
struct FailoverState {
    /// A 4xx response to an extra attempt while the first server may still respond.
    private struct Refusal {
        var index: Int
        var result: Result<HTTPResponse, RequestFailure.Reason>
        var status: Int
    }

    /// The wait of a request whose last attempt failed.
    ///
    /// The request continues when the failover budget permits another attempt.
    struct Held {
        var kind: FailureKind?
        /// The time when the request first had to wait.
        var since: MonotonicTime
    }

    private enum Phase { case ready, running, ended }

    private var phase = Phase.ready
    private(set) var attempts: ContiguousArray<Attempt> = []
    private var live = 0
    /// The index of the attempt whose response ended the request, even while the body of the response is still
    /// arriving.
    private var winner: Int?
    private var lastResult: Result<HTTPResponse, RequestFailure.Reason>?
    /// Whether `lastResult` comes from a response: an error status, or a response that is too large or redirects to a
    /// URL that cannot be requested.
    private var isLastResultResponse = false
    /// The index of the attempt that ended with `lastResult`.
    private var decisiveCandidate: Int?
    /// Whether a server may have executed the request in an attempt that has ended, although no response confirms it.
    private var mayHaveBeenExecuted = false
    /// The fate of the request in the attempts that have ended: whether a server may have executed it.
    private(set) var fate = RequestFate.unsent
    /// The method that is sent, if it is unsafe and a modifier has changed it.
    ///
    /// Otherwise `nil`.
    private(set) var changedMethod: HTTPMethod?
    /// The servers that do not serve the request after a modifier has changed it.
    private(set) var barred: [Server.ID] = []
    /// The 4xx response of an extra attempt while an earlier attempt still waits for its response.
    private var refusal: Boxed<Refusal>?
    /// The wait of the request until the failover budget may permit a failover, or `nil` if the request does not wait.
    private var held: Boxed<Held>?
    private var timer: (any ScheduledTimer)?
    /// The sequence number of the latest timer.
    private var timerNumber = 0
    /// The time at which the latest timer fires.
    ///
    /// Between claiming a sequence number and setting its timer, the value is far in the past.
    private var timerFiresAt = MonotonicTime(nanoseconds: .min)

    /// Whether the request has ended.
    var hasEnded: Bool { phase == .ended }

    /// The names of the servers that have been tried.
    ///
    /// Names are used because positions in the list may change during the request.
    var tried: [Server.ID] {
        attempts.compactMap { $0.route.attempt == nil ? nil : $0.route.server }
    }

    /// The URLs on servers of the service to which attempts were redirected.
    var redirectTargets: [RequestURL] {
        attempts.compactMap { $0.hops > 0 && !$0.isOutsideService ? $0.url : nil }
    }

    /// Whether an attempt has been charged to the failover or hedge budget.
    ///
    /// Later attempts of the request need no further charge.
    var isPaidFor: Bool { attempts.contains { $0.route.attempt?.isPaid == true } }

    /// Whether an attempt went to a host outside the service, so that sending it again to another server is pointless.
    var hasLeft: Bool { attempts.contains { $0.route.attempt == nil } }

    /// The newest attempt that has not ended.
    var newestLive: Attempt? { attempts.last { $0.outcome == nil } }

    /// Starts the request, and returns `false` if it was cancelled before.
    mutating func begin() -> Bool {
        guard phase == .ready else { return false }
        phase = .running
        return true
    }

    /// Records a server that does not serve the request, and returns all such servers.
    mutating func bar(_ server: Server.ID?) -> [Server.ID] {
        if let server { barred.append(server) }
        return barred
    }

    /// Adds an attempt with its HTTP request if the call's request is running.
    ///
    /// - Returns: The index of the attempt, and the method that is sent if it is unsafe and was changed.
    mutating func add(
        _ route: ServerPool.Route,
        _ request: HTTPRequest,
        _ activity: BodyActivity?,
        in configuration: APIConfiguration,
        at now: MonotonicTime
    ) -> (index: Int, changedMethod: HTTPMethod?)? {
        let method = request.method
        if !method.isSafe, method != configuration.sentMethod { changedMethod = method }
        let isAuthorized = !request.credentialFields.isEmpty
        let added = add(route, url: request.url, activity, isAuthorized: isAuthorized, at: now)
        guard let index = added else { return nil }
        if case .stream = request.body { attempts[index].hasStreamedBody = true }
        return (index, changedMethod)
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
        held = nil
        return attempts.count - 1
    }

    /// Stores the handle of an attempt's transfer, unless the attempt has ended.
    ///
    /// If the attempt was redirected in the meantime, the handle is not stored, because the next request may already
    /// have stored its own handle.
    mutating func attach(_ task: any TransportTask, to index: Int, hop: Int = 0) -> Attachment {
        guard phase == .running else { return index == winner ? .answered : .unwanted }
        guard attempts[index].outcome == nil else { return .answered }
        if attempts[index].hops == hop { attempts[index].task = task }
        return .waiting
    }

    /// Records that the time for connecting of the newest attempt was limited.
    mutating func limitConnecting() {
        if !attempts.isEmpty { attempts[attempts.count - 1].isConnectingLimited = true }
    }

    /// Returns an attempt that waits for its response, or `nil` if the attempt or the request has ended.
    func withoutResponse(_ index: Int) -> Attempt? {
        guard phase == .running, attempts[index].outcome == nil else { return nil }
        return attempts[index]
    }

    /// Moves the attempt to the target of a redirect, which may be outside the service.
    ///
    /// - Returns: The number of redirects so far, or `nil` if the attempt or the request has ended.
    mutating func redirect(_ index: Int, along trail: RedirectChain, isOutsideService: Bool) -> Int? {
        guard withoutResponse(index) != nil else { return nil }
        attempts[index].hops += 1
        attempts[index].isOutsideService = isOutsideService
        attempts[index].task = nil
        attempts[index].url = trail.request.url
        attempts[index].trail = Boxed(trail)
        return attempts[index].hops
    }

    /// Returns the number for a new timer.
    ///
    /// From now on, only the timer with this number is valid.
    mutating func claimTimer() -> Int {
        timerNumber += 1
        timerFiresAt = MonotonicTime(nanoseconds: .min)
        return timerNumber
    }

    /// Returns the sequence number for a timer that replaces the latest timer, if the latest timer fires after `time`.
    ///
    /// Otherwise, the result is `nil`. It is also `nil` if the request has ended, or if the latest timer has not been
    /// set yet.
    mutating func claimTimer(before time: MonotonicTime) -> Int? {
        phase == .running && time < timerFiresAt ? claimTimer() : nil
    }

    /// Stores a new timer and returns the timer that the caller must cancel.
    ///
    /// This is usually the previous timer. It is the new timer if the request has ended, or if the new timer has
    /// already fired and the number of a newer timer was claimed.
    mutating func replaceTimer(
        _ newTimer: any ScheduledTimer,
        number: Int,
        firingAt time: MonotonicTime
    ) -> (any ScheduledTimer)? {
        guard phase == .running, number == timerNumber else { return newTimer }
        timerFiresAt = time
        defer { timer = newTimer }
        return timer
    }

    /// Records the end of an attempt and the fate of its request (whether a server may have executed it).
    ///
    /// Nothing is recorded if the attempt or the request has already ended.
    mutating func attemptEnded(
        _ index: Int,
        _ outcome: AttemptOutcome,
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        _ fate: RequestFate,
        _ end: Attempt.End? = nil
    ) -> Step {
        guard phase == .running, attempts[index].outcome == nil else { return .none }
        attempts[index].end = end
        attempts[index].outcome = outcome
        attempts[index].task = nil
        let isUnprocessed = fate == .unsent && outcome.failureKind == .reset
        attempts[index].isRefusedStream = isUnprocessed && attempts[index].hasStreamedBody
        live -= 1
        self.fate = max(self.fate, fate)
        if fate.mayHaveBeenExecuted, !result.isGood { mayHaveBeenExecuted = true }
        if live > 0, outcome.failureKind == nil, case .failure = result {
            // The failure, such as a redirect that cannot be followed, does not decide the request, because another
            // attempt is still in flight.
            keepDecisive(result, of: index, isResponse: outcome.isAnswer)
            return .none
        }
        if index > 0 || refusal != nil, let step = weigh(outcome, result, of: index) { return step }
        // A request that failed because the machine is offline is tried at the next server too, because a server on the
        // machine itself can still respond.
        guard outcome.failureKind != nil || (outcome.isNeutral && result.isOffline) else {
            guard let ending = self.end(with: result, winner: index) else { return .none }
            return .end(ending)
        }
        keepDecisive(result, of: index, isResponse: result.isSuccess)
        return .tryAnother
    }

    /// Decides what to do with a 4xx response to an extra attempt while the first server has not responded yet.
    ///
    /// Without the extra attempt, the caller would have got the first server's response. The 4xx response is therefore
    /// held until the first server responds, unless another server responds with the same status. If the first server
    /// fails, the 4xx response is the result.
    ///
    /// - Returns: The step that follows the response, or `nil` if the response is treated like any other.
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

    /// The route to the server that has not responded yet while the 4xx response of another server is held, or `nil` if
    /// no response is held.
    var suspect: ServerPool.Route? {
        guard phase == .running, let refusal else { return nil }
        return attempts[..<refusal.value.index].first { $0.outcome == nil }?.route
    }

    /// Ends the request with the 4xx response that waited for a server, because that server will not respond any more.
    mutating func takeRefusal(waitingFor server: Server.ID) -> Ending? {
        guard let refusal, phase == .running else { return nil }
        let others = attempts.contains { $0.outcome == nil && $0.route.server != server }
        return others ? nil : end(with: refusal.value.result, winner: refusal.value.index)
    }

    /// Lets the request wait until another server may be tried.
    ///
    /// - Returns: The sequence number of the timer to set, or `nil` if an attempt is in flight or the request has
    ///   ended.
    mutating func hold(_ reason: Held) -> Int? {
        guard phase == .running, live == 0 else { return nil }
        held = Boxed(reason)
        return claimTimer()
    }

    /// Returns the reason why a timer has fired, and claims the sequence number of the next timer if an attempt is
    /// slow.
    ///
    /// Both happen in one step. Otherwise the request could start to wait for the failover budget in between, and its
    /// timer would be replaced.
    mutating func look() -> Look {
        guard phase == .running, let reason = held else { return .slow(newestLive, tried: tried, timer: claimTimer()) }
        held = nil
        return .held(reason.value)
    }

    /// Ends the request with the most significant result of its attempts, unless an attempt is in flight.
    mutating func giveUp() -> Ending? {
        guard live == 0, let lastResult, var ending = end(with: lastResult) else { return nil }
        ending.decisiveCandidate = decisiveCandidate
        return ending
    }

    /// Ends the request because an attempt cannot be sent.
    ///
    /// While another attempt is in flight, the request continues without this attempt. A response to an earlier attempt
    /// is more significant than the reason.
    mutating func endUnsent(_ reason: RequestFailure.Reason) -> Ending? {
        guard live == 0 else { return nil }
        if isLastResultResponse { return giveUp() }
        return end(with: .failure(reason))
    }

    /// Ends the request, even if attempts are in flight, or returns `nil` if the request has already ended.
    mutating func end(with result: Result<HTTPResponse, RequestFailure.Reason>, winner: Int? = nil) -> Ending? {
        guard phase != .ended else { return nil }
        phase = .ended
        var (result, winner) = (result, winner)
        var telling: Int?
        let isOverdue = result.isDeadline
        if isOverdue {
            // A response from a server is more significant than the deadline that has passed, even if its status is an
            // error or the response cannot be used.
            if let refusal {
                (result, winner) = (refusal.value.result, refusal.value.index)
            } else if isLastResultResponse, let lastResult {
                (result, telling) = (lastResult, decisiveCandidate)
            }
        }
        self.winner = winner
        lastResult = nil
        refusal = nil
        var ending = Ending(result: result, winner: winner, changedMethod: changedMethod)
        ending.mayHaveBeenExecuted = mayHaveBeenExecuted
        ending.fate = fate
        ending.decisiveCandidate = telling
        ending.isOverdue = isOverdue && winner == nil
        ending.isAttemptInFlight = live > 0
        swap(&ending.attempts, &attempts)
        swap(&ending.timer, &timer)
        return ending
    }

    /// Stores the most significant result so far: a response is more significant than a failure without a response.
    ///
    /// There is one exception: the failure of an earlier attempt is more significant than a hedge's response that
    /// cannot be used, because a retry policy may retry after the failure.
    private mutating func keepDecisive(
        _ result: Result<HTTPResponse, RequestFailure.Reason>,
        of index: Int,
        isResponse: Bool
    ) {
        if case .success = lastResult, case .failure = result { return }
        if isLastResultResponse, !isResponse, let decisiveCandidate, decisiveCandidate < index { return }
        lastResult = result
        isLastResultResponse = isResponse
        decisiveCandidate = index
    }
}

extension Result where Success == HTTPResponse, Failure == RequestFailure.Reason {
    /// Whether the result is a response with a status below 400.
    fileprivate var isGood: Bool {
        if case .success(let response) = self { response.status < 400 } else { false }
    }

    /// Whether the result is a response of any status.
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// Whether the request ended at its deadline.
    fileprivate var isDeadline: Bool {
        if case .failure(.deadlineExceeded) = self { true } else { false }
    }

    /// Whether nothing was sent because the device had no network path to the server.
    fileprivate var isOffline: Bool {
        if case .failure(.transport(let error)) = self { error.kind == .offline } else { false }
    }
}
