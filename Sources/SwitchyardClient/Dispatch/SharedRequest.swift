import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One of several requests that share a transfer: has its own name, deadline and end, and leaves by its own cancel.
///
/// The transfer is a request of nobody's; it ends when the last of those who share it leaves.
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
    /// Whether it belongs to the renewal of the client's credentials, and goes without them.
    let isOfRenewal: Bool
    /// Whose request it is: who logs in is not shown what was asked by another.
    let callOwner: CallOwner.Key?
    /// Which of the client's credentials it would go with.
    let credentialVersion: UInt64
    /// How many writes there had been at its path: a read behind a write does not share with one before it.
    let writes: UInt32?
    /// How often the cookies had changed with which it would go.
    let cookieChanges: UInt64
    private let startedAt: MonotonicTime
    /// When it ends whatever happens, though the transfer may go on for others.
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
        isOfRenewal = core.options.credentials?.isBypassed ?? false
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
        // A cancel that came meanwhile found no transfer to leave.
        if state.withLock({ $0.phase }) == .ended { core.sharedTransfers.leave(self, .cancelled) }
    }

    func cancel(_ reason: RequestFailure.Reason) {
        var context = ownContext
        // The others may have it go on, and nobody can take back what it has done.
        context.mayHaveBeenExecuted = configuration.hasEffect && state.withLock { $0.phase == .riding }
        end(with: .failure(RequestFailure(reason, id: id, context: context)), leaving: reason)
    }

    /// The transfer moves by itself: it is in the table too.
    func evacuate(_ server: Server.ID, in pool: ServerPool) {}

    /// Ends with what the transfer ended with.
    func landed(_ result: Result<ServiceResponse, RequestFailure>) {
        let own = result.map { answer in
            ServiceResponse(id: id, response: answer.response, context: timed(answer.context))
        }
        end(with: own.mapError { RequestFailure($0.reason, id: id, context: timed($0.context)) }, leaving: nil)
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

    private func end(with result: Result<ServiceResponse, RequestFailure>, leaving: RequestFailure.Reason?) {
        let ended = state.withLock { state -> State? in
            guard state.phase != .ended else { return nil }
            defer { state = State(phase: .ended) }
            return state
        }
        guard let ended else { return }
        ended.timer?.cancel()
        if let leaving { core.sharedTransfers.leave(self, leaving) }
        core.finish(self) { completion(result) }
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
