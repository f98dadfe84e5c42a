import Dispatch
public import SwitchyardHTTP
public import SwitchyardServices

/// An event in the life of a request, for observers.
///
/// The events of a request come in this order. Indented events may come several times:
///
///     dispatched
///         roundBegan              limits passed, configuration adapted
///             attemptSent         once for each server, including hedges
///             redirected          the attempt continues at another URL
///             attemptEnded        not for an attempt that was cancelled because another one got a response
///         roundEnded
///         waiting                 before another round
///     ended                       exactly once
///
/// A *round* is one try at the request with its failovers and hedges (a hedge is a second attempt while the first is
/// slow). Each retry starts another round.
///
/// A call that gets a stored response has only the event ``Kind/cachedResponseUsed(status:isFresh:)``. See
/// ``CallObserver``.
public struct DispatchEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// The client has registered the request.
        case dispatched(APIConfiguration)
        /// A round begins with this configuration: the first try at the request or a retry.
        case roundBegan(APIConfiguration)
        /// An attempt is passed to the transport.
        case attemptSent(AttemptRecord)
        /// A server redirected the attempt to another URL.
        case redirected(AttemptRecord, RedirectStep)
        /// An attempt has ended, with the transport's result or because the request ended.
        case attemptEnded(AttemptRecord, Result<HTTPResponse, TransportError>)
        /// A round has ended: the first try at the request or a retry, with its failovers.
        case roundEnded(Result<ServiceResponse, RequestFailure>)
        /// The request is sent again after a pause of this duration.
        case waiting(Duration)
        /// The request has ended, and the caller receives this result at the same time.
        case ended(Result<ServiceResponse, RequestFailure>)
        /// A call gets a stored response with this status and sends nothing.
        case cachedResponseUsed(status: Int, isFresh: Bool)
    }

    /// The identifier of the request, or a new identifier if the event is about a stored response.
    public var id: RequestID
    /// The service's name.
    public var service: String
    /// The environment that the request is built for.
    public var environment: ServiceEnvironment
    /// The number of the round, counted from 1, or 0 before the first round.
    public var round: Int
    /// The time of the event, on the client's clock.
    public var time: MonotonicTime
    /// The kind of the event.
    public var kind: Kind
    /// The call as the app described it, or `nil` if the event was created without one.
    public var call: APIConfiguration?

    /// Creates an event, for testing an observer of your own.
    package init(
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

/// One attempt at one server, as reported to observers.
public struct AttemptRecord: Sendable {
    /// The number of the attempt in its round, counted from 1.
    public var number: Int
    /// The reason for the attempt.
    public var kind: CallAttempt.Kind
    /// The server's name, or `nil` if the URL belongs to no server of the service.
    public var server: Server.ID?
    /// The request as it was passed to the transport, including credentials.
    public var request: HTTPRequest
    /// The time at which the attempt started.
    public var startedAt: MonotonicTime

    /// Creates a record.
    package init(
        number: Int = 1,
        kind: CallAttempt.Kind = .first,
        server: Server.ID?,
        request: HTTPRequest,
        startedAt: MonotonicTime
    ) {
        self.number = number
        self.kind = kind
        self.server = server
        self.request = request
        self.startedAt = startedAt
    }
}

extension DispatchEvent: RedactedDescribable {}
extension DispatchEvent.Kind: RedactedDescribable {}
extension AttemptRecord: RedactedDescribable {}

extension DispatchEvent: CustomStringConvertible {
    /// The request and the event on one line, as in a log, with credentials redacted.
    public var description: String { line(.standard) }

    /// Returns the event as one line of a log.
    ///
    /// The line always contains the request.
    package func line(_ redaction: Redaction) -> String {
        let words = kind.words(redaction, round: round)
        guard !kind.namesRequest, let call else { return "\(id) \(words)" }
        return "\(id) \(call.line(redaction)): \(words)"
    }
}

extension DispatchEvent.Kind: CustomStringConvertible {
    /// The event on one line, with credentials redacted.
    public var description: String { words(.standard) }

    /// Returns the event on one line.
    fileprivate func words(_ redaction: Redaction, round: Int? = nil) -> String {
        let roundName = round.map { "round \($0)" } ?? "round"
        let words =
            switch self {
            case .dispatched(let configuration): "\(configuration.line(redaction)) dispatched"
            case .roundBegan(let configuration): "\(roundName) begins: \(configuration.line(redaction))"
            case .attemptSent(let attempt): "\(attempt.request.line(redaction)) sent to \(attempt.place)"
            case .redirected(let attempt, let step):
                "\(redaction.url(step.from.text)) responded with status \(step.status), "
                    + "continues with \(attempt.request.line(redaction))"
            case .attemptEnded(let attempt, .success(let response)):
                "\(attempt.request.line(redaction)) got status \(response.status)"
            case .attemptEnded(let attempt, .failure(let error)):
                "\(attempt.request.line(redaction)) failed: \(error)"
                    + (error.mayHaveBeenSent && !attempt.request.method.isSafe ? .mayHaveBeenExecuted : "")
            case .roundEnded(let result): "\(roundName): \(result.words(redaction))"
            case .waiting(let pause): "next round starts in \(pause)"
            case .ended(let result): result.words(redaction)
            case .cachedResponseUsed(let status, let isFresh):
                "uses a stored response with status \(status)" + (isFresh ? "" : ", which is stale")
            }
        return redaction.text(words.inOneLine)
    }

    /// Whether the text of the event contains the request.
    ///
    /// This is not the case for a redirect or a pause.
    fileprivate var namesRequest: Bool {
        switch self {
        case .redirected, .waiting, .cachedResponseUsed: false
        default: true
        }
    }
}

extension AttemptRecord: CustomStringConvertible {
    /// The number of the attempt, the server and the request on one line, with credentials redacted.
    public var description: String { "attempt \(number) at \(place): \(request)" }

    fileprivate var place: String { server ?? "another host" }
}

extension Result<ServiceResponse, RequestFailure> {
    fileprivate func words(_ redaction: Redaction) -> String {
        switch self {
        case .success(let answer):
            "\(answer.context.way { redaction.url($0) }) ended with status \(answer.status) after \(answer.context.elapsed)"
                + (answer.status >= 400 && answer.context.mayHaveBeenExecuted ? .mayHaveBeenExecuted : "")
        case .failure(let failure): failure.description
        }
    }
}

extension String {
    /// The text with line breaks replaced by spaces, because an error message from a server may contain line breaks.
    fileprivate var inOneLine: String {
        contains { $0.isNewline } ? String(map { $0.isNewline ? " " : $0 }) : self
    }
}

/// A queue that passes events to observers one after the other.
///
/// A slow or blocked observer delays other observers, but no requests. If ``limit`` events are waiting, further events
/// are dropped, so that a blocked observer uses a bounded amount of memory.
package final class ObserverQueue: Sendable {
    /// The maximum number of waiting events; further events are dropped.
    static let limit = 65_536
    /// The maximum total size in bytes of the texts of waiting messages; further messages wait without their text.
    static let textLimit = 8 << 20

    private struct Waiting {
        var events = 0
        var textBytes = 0

        /// Counts an event, or returns `false` if too many events wait.
        mutating func add() -> Bool {
            guard events < ObserverQueue.limit else { return false }
            events += 1
            return true
        }
    }

    private let queue = DispatchQueue(label: "switchyard.observers")
    private let waiting = Locked(Waiting())

    func send(_ event: DispatchEvent, to observers: [any CallObserver]) {
        guard waiting.withLock({ $0.add() }) else { return }
        queue.async { [self] in
            for observer in observers { observer.observe(event) }
            waiting.withLock { $0.events -= 1 }
        }
    }

    /// Passes an event of a stream to an observer, without the text of its message if too many texts wait.
    func send(_ event: StreamEvent, to observer: MessageObserver) {
        let bytes = event.textBytes
        let (isAccepted, keepsText) = waiting.withLock { waiting in
            let keepsText = waiting.textBytes + bytes <= Self.textLimit
            let isAccepted = waiting.add()
            if isAccepted, keepsText { waiting.textBytes += bytes }
            return (isAccepted, keepsText)
        }
        guard isAccepted else { return }
        let kept = keepsText ? event : event.withoutText
        queue.async { [self] in
            observer.observe(kept)
            waiting.withLock { waiting in
                waiting.events -= 1
                if keepsText { waiting.textBytes -= bytes }
            }
        }
    }

    /// Calls a closure after the observers have been notified of all events so far.
    package func afterEvents(_ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }
}
