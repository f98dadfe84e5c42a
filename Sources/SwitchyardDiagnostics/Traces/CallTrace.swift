public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension APIConfiguration {
    private enum ParentTraceKey: ConfigurationKey {
        static var defaultValue: TraceContext? { nil }
    }

    /// The context that this call continues, in place of ``/SwitchyardDiagnostics/TraceContext/current``.
    ///
    /// If `nil` (the default), the call continues the context in its own `traceparent` field, or else the current
    /// context. If there is none either, the call starts a trace.
    public var parentTrace: TraceContext? {
        get { self[ParentTraceKey.self] }
        set { self[ParentTraceKey.self] = newValue }
    }
}

/// The span of a call: its position in the trace, and its parent.
struct CallTrace: Sendable, Hashable {
    /// The context of the call's own span.
    let context: TraceContext
    /// The span identifier of the parent, or `nil` if the call starts the trace.
    let parent: UInt64?
}

extension APIConfiguration {
    private enum CallTraceKey: ConfigurationKey {
        static var defaultValue: CallTrace? { nil }
    }

    /// The span of the call, which ``Tracer`` sets before the request is sent and before each retry.
    fileprivate(set) var callTrace: CallTrace? {
        get { self[CallTraceKey.self] }
        set { self[CallTraceKey.self] = newValue }
    }
}

/// Gives each call a span, and each of its attempts a `traceparent` of its own.
///
/// The identifiers of a call are computed from its ``RequestID`` and random numbers of the tracer. All retries of the
/// call therefore have the same identifiers, and no table of calls is needed.
struct Tracer: Sendable {
    private let seeds: (UInt64, UInt64, UInt64)
    private let sampling: TraceSampling

    init(sampling: TraceSampling) {
        var random = SystemRandomNumberGenerator()
        seeds = (random.next(), random.next(), random.next())
        self.sampling = sampling
    }

    /// Returns the span of a call.
    ///
    /// - Parameters:
    ///   - id: The identifier of the call.
    ///   - configuration: The call.
    ///   - current: The context of the task that makes the call.
    /// - Returns: The span, with the parent's trace or a new one.
    func trace(of id: RequestID, _ configuration: APIConfiguration, current: TraceContext?) -> CallTrace {
        let parent = configuration.parentTrace ?? TraceContext(configuration.ownHeaders) ?? current
        let trace = parent?.trace ?? TraceNumber(high: number(of: id, seeds.0), low: number(of: id, seeds.1))
        let span = number(of: id, seeds.2)
        let isSampled = sampling.isSampled(trace, parent: parent)
        let context =
            parent?.with(span: span, isSampled: isSampled)
            ?? TraceContext(trace: trace, span: span, isSampled: isSampled)
        return CallTrace(context: context, parent: parent?.span)
    }

    /// Adds the span of the call to the configuration, before the request is sent and before each retry.
    ///
    /// Each request that is built from the configuration gets a new span identifier, because each attempt is a span of
    /// its own. The call's `modifier` runs afterwards, so it can remove `traceparent` and `tracestate`.
    func adapt(_ configuration: inout APIConfiguration, _ context: DispatchContext) {
        let trace = trace(of: context.id, configuration, current: TraceContext.current)
        let modifier = configuration.modifier
        configuration.callTrace = trace
        configuration.modifier = { request in
            let attempt = trace.context.with(span: .random(in: 1 ... .max))
            request.headers.set("traceparent", attempt.traceparent)
            request.headers.remove("tracestate")
            if let state = attempt.state { request.headers.set("tracestate", state) }
            try modifier?(&request)
        }
    }

    /// Returns a nonzero random number that is derived from the request's identifier and the seed.
    private func number(of id: RequestID, _ seed: UInt64) -> UInt64 {
        var source = RandomSource(seed: seed ^ id.number)
        return max(1, source.next())
    }
}
