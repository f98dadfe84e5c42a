public import SwitchyardHTTP
public import SwitchyardServices

/// Something that happened on a request's flow, for observers.
///
/// The events of one request come in this order; what is indented may come several times:
///
///     dispatched
///         roundBegan              limits passed, configuration adapted
///             attemptSent         once for every server asked, hedges included
///             redirected          the attempt goes on at another URL
///             attemptEnded        not for an attempt that was cut off because another one answered
///         roundEnded
///         waiting                 before another round
///     ended                       exactly once
public struct DispatchEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// The request is in the client's table.
        case dispatched(APIConfiguration)
        /// A round begins with this configuration.
        case roundBegan(APIConfiguration)
        /// A request goes to the transport.
        case attemptSent(AttemptRecord)
        /// A server sent the attempt on to another URL.
        case redirected(AttemptRecord, RedirectStep)
        /// An attempt has ended: with what the transport says, or cut off by the end of the request.
        case attemptEnded(AttemptRecord, Result<HTTPResponse, TransportError>)
        /// A round ended.
        case roundEnded(Result<ServiceResponse, RequestFailure>)
        /// Another round follows after the pause.
        case waiting(Duration)
        /// The request has ended; its caller is told at the same time.
        case ended(Result<ServiceResponse, RequestFailure>)
    }

    /// The request.
    public var id: RequestID
    /// The service's name.
    public var service: String
    /// The environment the request is built for.
    public var environment: ServiceEnvironment
    /// The round, counted from 1; 0 before the first.
    public var round: Int
    /// When it happened, on the clock of the client.
    public var time: MonotonicTime
    /// What happened.
    public var kind: Kind
    /// The call as the app described it; `nil` only in an event that was made without.
    public var call: APIConfiguration?

    /// Creates an event, to try an observer of one's own with.
    public init(
        id: RequestID = RequestID(),
        service: String,
        environment: ServiceEnvironment,
        round: Int,
        time: MonotonicTime,
        kind: Kind,
        call: APIConfiguration? = nil
    ) {
        self.id = id
        self.service = service
        self.environment = environment
        self.round = round
        self.time = time
        self.kind = kind
        self.call = call
    }
}

/// One request to one server, as an observer sees it.
public struct AttemptRecord: Sendable {
    /// The number of the attempt in its round, counted from 1.
    public var number: Int
    /// The server's name; `nil` for a URL that is none of the service's.
    public var server: Server.ID?
    /// The request as it went to the transport; credentials included.
    public var request: HTTPRequest
    /// When it went.
    public var startedAt: MonotonicTime

    /// Creates a record.
    public init(number: Int = 1, server: Server.ID?, request: HTTPRequest, startedAt: MonotonicTime) {
        self.number = number
        self.server = server
        self.request = request
        self.startedAt = startedAt
    }
}

extension DispatchEvent: Discreet {}
extension DispatchEvent.Kind: Discreet {}
extension AttemptRecord: Discreet {}
