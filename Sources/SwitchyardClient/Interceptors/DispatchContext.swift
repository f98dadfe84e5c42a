public import SwitchyardHTTP
public import SwitchyardServices

/// What an interceptor or a limit is told about the round that is about to begin.
public struct DispatchContext: Sendable {
    /// The request, the same over all rounds.
    public var id: RequestID
    /// The round, counted from 1.
    public var round: Int
    /// The service's name.
    public var service: String
    /// The environment the request is built for.
    public var environment: ServiceEnvironment
    /// When the request was dispatched.
    public var startedAt: MonotonicTime
    /// When the request ends whatever happens; far in the future without a deadline.
    public var deadline: MonotonicTime
    /// The rounds that have ended, in order.
    public var history: [RoundRecord]
    /// The clock and the timers of the client, for whoever has to wait.
    public var time: any TimeSource
    /// The handle through which the request was sent.
    var owner: OwnerID
    /// Whether the renewal of a credential sends it, for which others may be waiting.
    var isOfRenewal = false
    /// Ends the request from outside.
    var end: @Sendable (RequestFailure.Reason) -> Void
    /// Names the server that is preferred now.
    var preferred: @Sendable () -> Server.ID
    /// Keeps what is to be called when another server is preferred, in the place of what was kept before.
    var whenSwitched: @Sendable ((@Sendable () -> Void)?) -> Void = { _ in }

    /// The server that is preferred now.
    var preferredServer: Server.ID { preferred() }

    /// How often the request has been sent again, whatever for.
    public var retries: Int { round - 1 }

    /// How much time is left until the deadline; never negative.
    public var remaining: Duration { max(.zero, time.now.duration(to: deadline)) }
}

extension DispatchContext {
    /// Creates the context of a request that no client has sent, to try an interceptor or a limit with.
    ///
    /// A limit that is handed it can end no request, and hears of no switch.
    ///
    /// - Parameters:
    ///   - id: The request; a new one unless given.
    ///   - round: The round, counted from 1; the one after the last of `history` unless given.
    ///   - service: The service's name.
    ///   - environment: The environment the request is built for.
    ///   - deadline: How long the request may take from now on; a minute unless given.
    ///   - history: The rounds that have ended, in order; none unless given.
    ///   - time: The clock; the system's unless given.
    public init(
        id: RequestID = RequestID(),
        round: Int? = nil,
        service: String,
        environment: ServiceEnvironment,
        deadline: Duration = .seconds(60),
        history: [RoundRecord] = [],
        time: any TimeSource = SystemTime.shared
    ) {
        let now = time.now
        self.init(
            id: id,
            round: round ?? history.count + 1,
            service: service,
            environment: environment,
            startedAt: now,
            deadline: now.advanced(by: deadline),
            history: history,
            time: time,
            owner: 0,
            end: { _ in },
            preferred: { "" }
        )
    }
}

/// What is kept of a round that has ended.
public struct RoundRecord: Sendable, Hashable {
    /// The round, counted from 1.
    public var round: Int
    /// The status of the answer; `nil` when none came.
    public var status: Int?
    /// Why none came; `nil` when one did.
    public var failure: RequestFailure.Reason?
    /// Server, URL, attempts and time of the round.
    public var context: RequestContext
    /// What the decisive exchange cost; `nil` when the transport does not measure.
    public var metrics: TransferMetrics?
    /// Whether its 401 led to another round: with another credential, with none, or with the answer to a challenge.
    ///
    /// A retry policy does not count such a round.
    public var isReauthorized = false

    /// Creates what is kept of a round that has ended.
    ///
    /// - Parameters:
    ///   - result: How it ended.
    ///   - round: The round, counted from 1.
    public init(_ result: Result<ServiceResponse, RequestFailure>, round: Int) {
        self.round = round
        switch result {
        case .success(let answer):
            status = answer.status
            context = answer.context
            metrics = answer.response.metrics
        case .failure(let error):
            failure = error.reason
            context = error.context
        }
    }
}
