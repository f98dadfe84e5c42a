public import SwitchyardHTTP
public import SwitchyardServices

/// The context of a round that is about to begin, for interceptors and limits.
///
/// A round is one try at the request with its failovers and hedges. A retry starts another round.
public struct DispatchContext: Sendable {
    /// The identifier of the request, which is the same in all rounds.
    public var id: RequestID
    /// The number of the round, counted from 1.
    public var round: Int
    /// The service's name.
    public var service: String
    /// The environment that the request is built for.
    public var environment: ServiceEnvironment
    /// The time at which the request was dispatched.
    public var startedAt: MonotonicTime
    /// The time at which the request ends in any case, or a time in the far future if the request has no deadline.
    public var deadline: MonotonicTime
    /// The rounds that have ended, in order.
    public var history: [RoundRecord]
    /// The clock and the timers of the client, for code that has to wait.
    public var time: any TimeSource
    /// The client handle through which the request was sent.
    var owner: OwnerID
    /// Whether the request belongs to a token refresh, for which other requests may be waiting.
    var isOfRefresh = false
    /// Ends the request with the given reason.
    package var end: @Sendable (RequestFailure.Reason) -> Void
    /// Returns the server that is preferred now.
    var preferred: @Sendable () -> Server.ID
    /// Sets the handler that is called when another server becomes the preferred server.
    ///
    /// The new handler replaces the previous handler.
    var whenSwitched: @Sendable ((@Sendable () -> Void)?) -> Void = { _ in }

    /// The server that is preferred now.
    var preferredServer: Server.ID { preferred() }

    /// The number of retries so far, including those after a 401 (the rounds after the first).
    public var retries: Int { round - 1 }

    /// The time until the deadline, which is never negative.
    public var remaining: Duration { max(.zero, time.now.duration(to: deadline)) }
}

extension DispatchContext {
    /// Creates the context of a request that no client has sent, for testing an interceptor or a limit.
    ///
    /// A limit that receives this context cannot end the request and is not notified of a server switch.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request, a new identifier by default.
    ///   - round: The number of the round, counted from 1. If `nil`, it is the round after the last round in `history`.
    ///   - service: The service's name.
    ///   - environment: The environment that the request is built for.
    ///   - deadline: The time that the request may take from now on, a minute by default.
    ///   - history: The rounds that have ended, in order, none by default.
    ///   - time: The clock, by default the system's clock.
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

extension DispatchContext {
    /// The record of a round that has ended.
    ///
    /// A round is one try at the request with its failovers and hedges.
    public struct RoundRecord: Sendable, Hashable {
        /// The number of the round, counted from 1.
        public var round: Int
        /// The status of the response, or `nil` if there is no response.
        public var status: Int?
        /// The reason why there is no response, or `nil` if there is a response.
        public var failure: RequestFailure.Reason?
        /// The server, URL, attempts and duration of the round.
        public var context: RequestContext
        /// The metrics of the response, or `nil` if there is no response or the transport does not measure.
        public var metrics: TransferMetrics?
        /// Whether the round got a 401 and was followed by a round with another credential, without a credential, or
        /// with a reply to the challenge.
        ///
        /// A retry policy does not count such a round.
        public var isReauthorized = false

        /// Creates the record of a round that has ended.
        ///
        /// - Parameters:
        ///   - result: The result of the round.
        ///   - round: The round, counted from 1.
        package init(_ result: Result<ServiceResponse, RequestFailure>, round: Int) {
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
}
