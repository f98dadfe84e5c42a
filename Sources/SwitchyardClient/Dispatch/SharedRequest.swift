import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One of several coalesced requests: it has its own identifier, deadline and end, and its cancellation only detaches
/// it.
///
/// The transfer has no owner; it ends when its last request is detached.
final class SharedRequest: DispatchedRequest {
    private enum Phase { case ready, riding, ended }

    private struct State {
        var phase = Phase.ready
        var timer: (any ScheduledTimer)?
    }

    let id: RequestID
    let sender: ClientCore.Sender
    let configuration: APIConfiguration
    let name: String
    let core: ClientCore
    let pool: ServerPool
    let progress: TransferProgressHandler?
    /// Whether the request belongs to the refresh of the client's credentials and is sent without credentials.
    let isOfRefresh: Bool
    /// The owner of the request: a user is not shown the response to another user's request.
    let callOwner: CallOwner.Key?
    /// The version of the client's credential that the request would carry.
    let credentialVersion: UInt64
    /// The number of writes to its path so far: a read after a write does not share with one before it.
    let writes: UInt32?
    /// The number of times the cookies that the request would carry had changed.
    let cookieChanges: UInt64
    private let startedAt: MonotonicTime
    /// The deadline of this request, after which the transfer may continue for other requests.
    let deadline: MonotonicTime
    private let completion: RequestCompletion
    private let state = Locked(State())

    init(
        id: RequestID,
        sender: ClientCore.Sender,
        configuration: APIConfiguration,
        name: String,
        core: ClientCore,
        pool: ServerPool,
        progress: TransferProgressHandler?,
        completion: @escaping RequestCompletion
    ) {
        self.id = id
        self.sender = sender
        self.configuration = configuration
        self.name = name
        self.core = core
        self.progress = progress
        self.completion = completion
        isOfRefresh = core.options.credentials?.isBypassed ?? false
        self.pool = pool
        cookieChanges = configuration.usesCookies ? pool.generator.cookies?.changes ?? 0 : 0
        credentialVersion = core.options.credentials?.version(in: pool.environment) ?? 0
        writes = core.writes(at: configuration, in: pool)?.count
        callOwner = configuration.callOwner?.key
        startedAt = core.now
        deadline = core.deadline(of: configuration, in: pool, startedAt: startedAt)
    }

    var owner: OwnerID { sender.owner }
    var environment: ServiceEnvironment { pool.environment }
    var hasEnded: Bool { state.withLock { $0.phase == .ended } }

    func start() {
        let mayStart = state.withLock { state in
            guard case .ready = state.phase else { return false }
            state.phase = .riding
            return true
        }
        guard mayStart else { return core.finish(self) }
        setTimer()
        core.sharedTransfers.join(self)
        // A cancellation in between found no transfer to leave.
        if state.withLock({ $0.phase }) == .ended { core.sharedTransfers.leave(self, .cancelled) }
    }

    func cancel(_ reason: RequestFailure.Reason) {
        guard let phase = end(leaving: reason) else { return }
        var context = ownContext
        // The transfer may continue for the other requests, and its effect cannot be undone.
        context.mayHaveBeenExecuted = configuration.hasEffect && phase == .riding
        let failure = RequestFailure(reason, id: id, context: context)
        core.finish(self) { completion(.failure(failure)) }
    }

    /// The transfer moves itself, because it is in the table too.
    func evacuate(_ server: Server.ID, in pool: ServerPool) {}

    /// Ends the request with the result of the transfer.
    func landed(_ result: Result<ServiceResponse, RequestFailure>) {
        guard end() != nil else { return }
        let own = result.map { answer in
            ServiceResponse(id: id, response: answer.response, context: timed(answer.context))
        }
        core.finish(self) {
            completion(own.mapError { RequestFailure($0.reason, id: id, context: timed($0.context)) })
        }
    }

    private func setTimer() {
        guard deadline < .distantFuture else { return }
        let timer = core.time.schedule(at: deadline) { [weak self] in self?.cancel(.deadlineExceeded) }
        let isLate = state.withLock { state in
            state.timer = timer
            return state.phase == .ended
        }
        if isLate { timer.cancel() }
    }

    /// Ends the request.
    ///
    /// - Parameter reason: The reason for which the request leaves its transfer, or `nil` if the transfer has ended.
    /// - Returns: The phase that the request was in, or `nil` if it had already ended.
    private func end(leaving reason: RequestFailure.Reason? = nil) -> Phase? {
        let ended = state.withLock { state -> State? in
            guard state.phase != .ended else { return nil }
            defer { state = State(phase: .ended) }
            return state
        }
        guard let ended else { return nil }
        ended.timer?.cancel()
        if let reason { core.sharedTransfers.leave(self, reason) }
        return ended.phase
    }

    private var ownContext: RequestContext {
        var context = RequestContext(
            service: pool.service,
            environment: environment,
            method: configuration.sentMethod
        )
        context.path = configuration.place
        return timed(context)
    }

    private func timed(_ context: RequestContext) -> RequestContext {
        var context = context
        context.elapsed = startedAt.duration(to: core.now)
        return context
    }
}
