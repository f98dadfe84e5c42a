import Dispatch
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

extension DispatchEvent: CustomStringConvertible {
    /// One line, as in a log: the request and what happened, with credentials hidden.
    public var description: String { line(.standard) }

    /// The line for a log, which names the request whatever happened to it.
    package func line(_ redaction: Redaction) -> String {
        let words = kind.words(redaction, round: round)
        guard !kind.namesRequest, let call else { return "\(id) \(words)" }
        return "\(id) \(call.line(redaction)): \(words)"
    }
}

extension DispatchEvent.Kind: CustomStringConvertible {
    /// What happened, in one line, with credentials hidden.
    public var description: String { words(.standard) }

    /// What happened, in one line.
    fileprivate func words(_ redaction: Redaction, round: Int? = nil) -> String {
        let roundName = round.map { "round \($0)" } ?? "round"
        let words =
            switch self {
            case .dispatched(let configuration): "\(configuration.line(redaction)) dispatched"
            case .roundBegan(let configuration): "\(roundName) begins: \(configuration.line(redaction))"
            case .attemptSent(let attempt): "\(attempt.request.line(redaction)) sent to \(attempt.place)"
            case .redirected(let attempt, let step):
                "\(redaction.url(step.from.text)) answered \(step.status), goes on with \(attempt.request.line(redaction))"
            case .attemptEnded(let attempt, .success(let response)):
                "\(attempt.request.line(redaction)) answered \(response.status)"
            case .attemptEnded(let attempt, .failure(let error)):
                "\(attempt.request.line(redaction)) failed: \(error)"
                    + (error.mayHaveBeenSent && !attempt.request.method.isSafe ? .mayHaveBeenExecuted : "")
            case .roundEnded(let result): "\(roundName): \(result.words(redaction))"
            case .waiting(let pause): "another round in \(pause)"
            case .ended(let result): result.words(redaction)
            }
        return redaction.text(words.inOneLine)
    }

    /// Whether the words begin with the request, or with all that it became: those of a redirect show only the next one.
    fileprivate var namesRequest: Bool {
        switch self {
        case .redirected, .waiting: false
        default: true
        }
    }
}

extension AttemptRecord: CustomStringConvertible {
    /// Its number, the server and the request, in one line, with credentials hidden.
    public var description: String { "attempt \(number) at \(place): \(request)" }

    fileprivate var place: String { server ?? "another host" }
}

extension Result<ServiceResponse, RequestFailure> {
    fileprivate func words(_ redaction: Redaction) -> String {
        switch self {
        case .success(let answer):
            "\(answer.context.way { redaction.url($0) }) ended with \(answer.status) after \(answer.context.elapsed)"
                + (answer.status >= 400 && answer.context.mayHaveBeenExecuted ? .mayHaveBeenExecuted : "")
        case .failure(let failure): failure.description
        }
    }
}

extension String {
    /// The text with spaces for line ends, which an error of a server's making could hold.
    fileprivate var inOneLine: String {
        contains { $0.isNewline } ? String(map { $0.isNewline ? " " : $0 }) : self
    }
}

/// Hands events to observers one after the other, on a queue of its own: an observer that is slow, or never returns,
/// delays other observers and no request.
///
/// Events that find ``limit`` others waiting are dropped, so that an observer that hangs costs bounded memory.
final class ObserverQueue: Sendable {
    /// The most events that wait.
    static let limit = 65_536

    private let queue = DispatchQueue(label: "switchyard.observers")
    private let waiting = Locked(0)

    func send(_ event: DispatchEvent, to observers: [RequestInterceptor.Observe]) {
        let isAccepted = waiting.withLock { waiting in
            guard waiting < Self.limit else { return false }
            waiting += 1
            return true
        }
        guard isAccepted else { return }
        queue.async { [self] in
            for observe in observers { observe(event) }
            waiting.withLock { $0 -= 1 }
        }
    }
}
