import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A call in progress, which becomes one span, with one more span for each attempt.
struct TracedCall: Sendable {
    /// The maximum number of recorded attempts of a call, and of recorded events of a span.
    static let limit = 128

    private struct Attempt: Sendable {
        let round: Int
        let number: Int
        let server: String?
        var span: Span
        var isOpen = true
    }

    let service: String
    let environment: ServiceEnvironment
    /// The position of the call in its trace.
    private(set) var trace: CallTrace
    private let conventions: HTTPConventions
    private let template: String?
    private let clock: EventClock
    private var span: Span
    private var attempts: [Attempt] = []
    private var sent = 0

    /// Creates the record of a call that has started.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - event: The event of its start.
    ///   - trace: The position of the call in its trace. When a round of the call begins, the position in the
    ///     configuration of that round replaces it.
    ///   - clock: Converts the times of events.
    ///   - conventions: The names and attributes.
    init(
        _ configuration: APIConfiguration,
        _ event: DispatchEvent,
        _ trace: CallTrace,
        _ clock: EventClock,
        _ conventions: HTTPConventions
    ) {
        (service, environment) = (event.service, event.environment)
        (self.trace, self.conventions, self.clock) = (trace, conventions, clock)
        template = conventions.template(of: configuration)
        let start = clock.nanoseconds(event.time)
        span = Span(
            context: trace.context,
            parent: trace.parent,
            name: conventions.name(of: configuration),
            kind: .internal,
            start: start,
            end: start,
            attributes: [
                "switchyard.service": .text(event.service),
                "switchyard.environment": .text(event.environment.rawValue),
            ]
        )
    }
}

// MARK: - Events

extension TracedCall {
    /// Records an event, except the start and the end of the call.
    mutating func take(_ event: DispatchEvent) {
        let time = clock.nanoseconds(event.time)
        switch event.kind {
        case .roundBegan(let configuration): if let trace = configuration.callTrace { self.trace = trace }
        case .attemptSent(let attempt): sent(attempt, event.round, at: time)
        case .redirected(let attempt, let step): redirected(attempt, step, event.round, at: time)
        case .attemptEnded(let attempt, let result): ended(attempt, result, event.round, at: time)
        case .roundEnded: cut(at: time)
        case .dispatched, .waiting, .ended, .cachedResponseUsed: break
        }
    }

    /// Adds an event to the span of the call.
    mutating func add(_ name: String, _ attributes: Attributes, at time: MonotonicTime) {
        span.add(Span.Event(name: name, time: clock.nanoseconds(time), attributes: attributes))
    }

    /// Records that a request was sent: the first request of an attempt, or the next one after a redirect.
    private mutating func sent(_ attempt: AttemptRecord, _ round: Int, at time: UInt64) {
        if let index = index(of: attempt, round) { return attempts[index].isOpen = true }
        if attempt.kind != .first { explain(attempt, at: time) }
        sent += 1
        guard attempts.count < Self.limit else { return }
        var span = Span(
            context: context(of: attempt.request),
            parent: trace.context.span,
            name: conventions.name(of: attempt.request.method, template),
            kind: .client,
            start: time,
            end: time,
            attributes: conventions.attributes(of: attempt, template)
        )
        if sent > 1 { span.attributes["http.request.resend_count"] = .int(sent - 1) }
        attempts.append(Attempt(round: round, number: attempt.number, server: attempt.server, span: span))
    }

    /// Adds the reason for an attempt after the first one: `switchyard.failover`, `switchyard.hedge` and so on.
    private mutating func explain(_ attempt: AttemptRecord, at time: UInt64) {
        var attributes: Attributes = [:]
        attributes.set("switchyard.server.from", attempts.last?.server)
        attributes.set("switchyard.server.to", attempt.server)
        attributes["error.type"] = attempts.last?.span.attributes["error.type"]
        span.add(Span.Event(name: "switchyard.\(attempt.kind.rawValue)", time: time, attributes: attributes))
    }

    /// Returns the context that the request carries.
    ///
    /// If code of the app has removed or replaced the context, the result is a new one.
    private func context(of request: HTTPRequest) -> TraceContext {
        if let context = TraceContext(request.headers), context.trace == trace.context.trace,
            !attempts.contains(where: { $0.span.context.span == context.span })
        {
            return trace.context.with(span: context.span)
        }
        return trace.context.with(span: .random(in: 1 ... .max))
    }

    private mutating func redirected(_ attempt: AttemptRecord, _ step: RedirectStep, _ round: Int, at time: UInt64) {
        guard let index = index(of: attempt, round) else { return }
        attempts[index].span.add(
            Span.Event(
                name: "switchyard.redirect",
                time: time,
                attributes: [
                    "http.response.status_code": .int(step.status), "url.full": .text(conventions.shown(step.to)),
                ]
            )
        )
    }

    private mutating func ended(
        _ attempt: AttemptRecord,
        _ result: Result<HTTPResponse, TransportError>,
        _ round: Int,
        at time: UInt64
    ) {
        guard let index = index(of: attempt, round) else { return }
        attempts[index].isOpen = false
        attempts[index].span.end = time
        attempts[index].span.hasFailed = conventions.add(
            result,
            to: &attempts[index].span.attributes,
            withFields: true
        )
    }

    /// Ends the attempts that were cancelled because another attempt got a response.
    private mutating func cut(at time: UInt64) {
        for index in attempts.indices where attempts[index].isOpen {
            attempts[index].isOpen = false
            attempts[index].span.end = time
            attempts[index].span.attributes["error.type"] = "cancelled"
        }
    }

    private func index(of attempt: AttemptRecord, _ round: Int) -> Int? {
        attempts.lastIndex { $0.round == round && $0.number == attempt.number }
    }
}

// MARK: - End

extension TracedCall {
    /// Returns the spans of a call that has ended: the span of the call, and one for each attempt.
    func spans(endedWith result: Result<ServiceResponse, RequestFailure>, at time: MonotonicTime) -> [Span] {
        var call = self
        let end = clock.nanoseconds(time)
        call.cut(at: end)
        call.span.context = trace.context
        call.span.parent = trace.parent
        call.span.end = end
        let context = result.context
        call.span.attributes["switchyard.attempts"] = .int(context.attempts)
        call.span.attributes.set("switchyard.server", context.server)
        if case .stopped(let stopped)? = context.history.attempts.last?.next {
            call.span.attributes["switchyard.failover.stopped_by"] = .text("\(stopped)")
        }
        switch result {
        case .success(let response):
            call.span.attributes["http.response.status_code"] = .int(response.status)
            call.span.hasFailed = response.status >= 400
            if call.span.hasFailed { call.span.attributes["error.type"] = .text("\(response.status)") }
        case .failure(let failure):
            call.span.attributes["error.type"] = .text(failure.reason.name)
            call.span.hasFailed = !failure.isCancellation
        }
        return [call.span] + call.attempts.map(\.span)
    }
}

extension Span {
    /// Adds an event, unless the span has too many.
    mutating func add(_ event: Event) {
        if events.count < TracedCall.limit { events.append(event) } else { droppedEvents += 1 }
    }
}

/// Converts the times of a client's clock to nanoseconds since 1970.
struct EventClock: Sendable {
    private let date: UInt64
    private let since: MonotonicTime

    /// Creates a converter from a date and a monotonic time of the same moment.
    init(date: UInt64, at time: MonotonicTime) {
        (self.date, since) = (date, time)
    }

    /// Returns the time in nanoseconds since 1970.
    func nanoseconds(_ time: MonotonicTime) -> UInt64 {
        let elapsed = since.duration(to: time).clampedNanoseconds
        return elapsed < 0 ? date - min(date, elapsed.magnitude) : date + UInt64(elapsed)
    }
}
