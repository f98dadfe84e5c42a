import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One of several coalesced requests that share one transfer.
///
/// The request has its own identifier, deadline and end. If the request is cancelled, it only leaves the transfer. The
/// transfer belongs to no handle and is cancelled when its last request leaves.
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
    /// The user and environment of the request.
    ///
    /// Requests of different users or environments do not share a transfer.
    let ownerKey: CallOwner.Key?
    /// The version of the client's credential that the request would carry.
    let credentialVersion: UInt64
    /// The number of write requests to the path when this request was created.
    ///
    /// Requests share a transfer only if this number is equal, so a read request never gets a response from before a
    /// write request.
    let writes: UInt32?
    /// The number of times the cookie jar had changed when the request was created, or 0 if the request uses no
    /// cookies.
    let cookieChanges: UInt64
    private let startedAt: MonotonicTime
    /// The deadline of this request.
    ///
    /// The transfer may continue after this deadline for other requests.
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
        writes = core.pathCounters(in: pool).writes(at: configuration)?.count
        ownerKey = configuration.callOwner?.key
        startedAt = core.now
        deadline = core.deadline(of: configuration, in: pool, startedAt: startedAt)
    }

    var owner: OwnerID { sender.owner }
    var callOwner: CallOwner? { configuration.callOwner }
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
        // If the request was cancelled before `join`, it was not in the transfer yet. It leaves the transfer now.
        if state.withLock({ $0.phase }) == .ended { core.sharedTransfers.leave(self, .cancelled) }
    }

    func cancel(_ reason: RequestFailure.Reason) {
        guard let phase = end(leaving: reason) else { return }
        var context = ownContext
        // The transfer may continue for other requests, and its effect on the server cannot be undone.
        context.mayHaveBeenExecuted = configuration.hasEffect && phase == .riding
        let failure = RequestFailure(reason, id: id, context: context)
        core.finish(self) { completion(.failure(failure)) }
    }

    /// Does nothing.
    ///
    /// The transfer is in the dispatch table too and moves to another server itself.
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
    /// - Parameter reason: The reason why the request leaves its transfer, or `nil` if the transfer has ended.
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
