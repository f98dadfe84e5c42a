public import Foundation
public import SwitchyardHTTP
public import SwitchyardServices

/// The response of a service, whatever its status, with its context.
///
/// If a request had several attempts, this is the response of the decisive attempt.
public struct ServiceResponse: Sendable {
    /// The identifier of the request.
    public var id: RequestID
    /// The HTTP response.
    public var response: HTTPResponse
    /// The server, the number of attempts and the elapsed time.
    public var context: RequestContext {
        @inlinable get { sharedContext.value }
        @inlinable _modify { yield &sharedContext.value }
    }

    /// The context, stored by reference because a response is passed on many times and its context is rarely read.
    @usableFromInline package var sharedContext: CopyOnWrite<RequestContext>

    /// Creates a response.
    public init(id: RequestID, response: HTTPResponse, context: RequestContext) {
        self.id = id
        self.response = response
        sharedContext = CopyOnWrite(context)
    }

    init(id: RequestID, response: HTTPResponse, sharedContext: CopyOnWrite<RequestContext>) {
        self.id = id
        self.response = response
        self.sharedContext = sharedContext
    }

    /// The status code.
    public var status: Int { response.status }

    /// The header fields.
    public var headers: HTTPHeaders { response.headers }

    /// The whole body, or `nil` for a body that is read as it arrives: see ``/SwitchyardHTTP/HTTPResponse/data``.
    public var data: Data? { response.data }

    /// The whole body as text, decoded by the charset of `Content-Type`, or `nil` if there is no such text: see
    /// `HTTPResponse.text`.
    public var text: String? { response.text }
}

extension ServiceResponse: CustomStringConvertible {
    /// The context and the status, without headers, query, password and body.
    public var description: String { "\(context): \(status)" }
}

/// The server, URL, attempts and duration of a request.
///
/// A context is part of every response and every failure.
public struct RequestContext: Sendable, Hashable {
    /// The service's name.
    public var service: String
    /// The environment that the request was built for.
    public var environment: ServiceEnvironment
    /// The server that responded, or the last server that failed.
    ///
    /// The value is `nil` if no server was reached or the URL belongs to another host. A server that mirrors another
    /// server may respond with data that is older than a write that the other server has executed.
    public var server: String?
    /// The URL of the decisive attempt, or `nil` if no request could be built.
    ///
    /// The URL's query may contain data that does not belong in a log. The descriptions of this library omit the query.
    public var url: RequestURL?
    /// The method of the request.
    public var method: HTTPMethod
    /// The number of attempts that were sent, including hedges (second attempts while the first is slow) and the
    /// attempts before a retry.
    public var attempts: Int
    /// The time from when the client received the request to the end of the request, with all waits and rounds.
    public var elapsed: Duration
    /// The redirects that the decisive attempt followed, in order.
    ///
    /// The last redirect led to ``url``.
    public var redirects: [RedirectStep]
    /// The number of times that the request was tried, which is 1 unless it was retried.
    ///
    /// Failovers and hedges do not count.
    public var rounds = 1
    /// Whether a server may have executed a write request although no response confirms it: see
    /// ``RequestFailure/mayHaveBeenExecuted``.
    ///
    /// If there is a response, the value is `true` in three cases: a server may have executed the request in another
    /// attempt, the response is inconclusive (408, or a status from 500), or a server rejected the request after a
    /// redirect with status 303 had reported that the write request was executed.
    public var mayHaveBeenExecuted: Bool
    /// The decisive attempt as the switching core knows it, or `nil` if the attempt went to a URL outside the service.
    package var attempt: Attempt? {
        get { origin.attempt }
        set { origin.attempt = newValue }
    }

    /// The fate of a write request in all attempts: whether a server may have executed it.
    ///
    /// A request that only reads counts as unsent.
    package var fate: RequestFate {
        get { origin.fate }
        set { origin.fate = newValue }
    }

    /// Whether a write request was executed or may have been executed, even if the app discards the response.
    package var mayHaveTakenEffect: Bool { mayHaveBeenExecuted || fate.mayHaveBeenExecuted }

    /// The attempts of the request, in order.
    package var history: AttemptHistory {
        get { origin.history }
        set { origin.history = newValue }
    }

    /// Whether a 401 came from a host that the credential is not for.
    var isForeign: Bool {
        get { origin.isForeign }
        set { origin.isForeign = newValue }
    }

    /// The path or URL of the call's configuration.
    ///
    /// This property is set only if ``url`` is `nil`.
    package var path: String? {
        get { origin.path }
        set { origin.path = newValue }
    }

    private var origin: Origin

    /// Creates a context.
    public init(
        service: String,
        environment: ServiceEnvironment,
        method: HTTPMethod,
        server: String? = nil,
        url: RequestURL? = nil,
        attempts: Int = 0,
        elapsed: Duration = .zero,
        redirects: [RedirectStep] = []
    ) {
        self.init(
            service: service,
            environment: environment,
            method: method,
            server: server,
            url: url,
            attempts: attempts,
            elapsed: elapsed,
            redirects: redirects,
            mayHaveBeenExecuted: false,
            origin: Origin()
        )
    }

    /// Creates the context of a request that has ended.
    init(
        service: String,
        environment: ServiceEnvironment,
        method: HTTPMethod,
        server: String?,
        url: RequestURL?,
        attempts: Int,
        elapsed: Duration,
        redirects: [RedirectStep],
        mayHaveBeenExecuted: Bool,
        origin: Origin
    ) {
        self.service = service
        self.environment = environment
        self.method = method
        self.server = server
        self.url = url
        self.attempts = attempts
        self.elapsed = elapsed
        self.redirects = redirects
        self.mayHaveBeenExecuted = mayHaveBeenExecuted
        self.origin = origin
    }
}

extension RequestContext {
    /// The properties that are ignored when contexts are compared.
    struct Origin: Sendable, Hashable {
        var attempt: Attempt?
        var isForeign = false
        var path: String?
        var fate = RequestFate.unsent
        var history = AttemptHistory.none

        static func == (one: Origin, other: Origin) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }
}

extension RequestContext: CustomStringConvertible {
    /// The request, its redirects and the number of attempts in one line, without query and password.
    public var description: String {
        let names = [service, environment.rawValue, server].compactMap(\.self)
        let count = attempts == 1 ? "1 attempt" : "\(attempts) attempts"
        return "\(way(Redaction.place)) (\(names.joined(separator: "/")), \(count))"
    }

    /// Returns the method, the URL, and the redirects as text.
    package func way(_ shown: (String) -> String) -> String {
        guard redirects.isEmpty else { return RedirectStep.way(of: method, along: redirects, shown) }
        return "\(method) \((url?.text ?? path).map(shown) ?? "-")"
    }
}

extension ServiceResponse {
    /// Discards a streamed body without reading it.
    package func discardBody() {
        if case .stream(let stream) = response.body { stream.cancel() }
    }
}

extension ServiceResponse: RedactedDescribable {}
extension RequestContext: RedactedDescribable {}
