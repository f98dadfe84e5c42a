import Foundation
public import SwitchyardClient
import SwitchyardHTTP
public import SwitchyardServices
public import SwitchyardTransport

/// Exports the traces and metrics of clients to an OpenTelemetry collector.
///
///     let telemetry = try OpenTelemetryExporter(collector: "http://localhost:4318", service: "forum-app")
///     options.interceptors.append(telemetry.interceptor)
///     let client = try NetworkClient(service: service, options: options)
///     telemetry.follow(client)
///
/// A call is a span, and each of its attempts is a child of it. Each attempt carries its own `traceparent`, so the span
/// of the server becomes a child of the attempt. A call whose first server fails is therefore one span with two
/// attempts.
///
/// ### What leaves the app
/// The method, the URL without the values of its query, the status, the times, and the names of servers. Bodies are
/// never exported. ``Options`` adds query values and header fields. Credentials are hidden in everything.
///
/// ### Cost
/// Spans are made on the queue of the observers, and sent by a client of their own, in batches. If the collector is
/// slow or unavailable, spans wait up to a limit and are then dropped. A call never waits for the collector.
///
/// Source: OTLP/HTTP in JSON, Semantic Conventions for HTTP, W3C Trace Context.
public final class OpenTelemetryExporter: Sendable {
    /// The numbers of exported, waiting and dropped spans, and of lost calls.
    public struct Statistics: Sendable, Hashable {
        /// The number of spans that the collector has accepted.
        public internal(set) var exportedSpans = 0
        /// The number of spans that wait to be sent.
        public internal(set) var waitingSpans = 0
        /// The number of spans that were dropped because the buffer was full, the collector refused them, or five tries
        /// failed.
        public internal(set) var droppedSpans = 0
        /// The number of calls whose end was never reported, because the client had dropped events.
        public internal(set) var lostCalls = 0
    }

    private struct State {
        var followed: [ObserverQueue] = []
    }

    private let collector: Collector
    private let time: any TimeSource
    private let now: @Sendable () -> UInt64
    private let spans: SpanRecorder?
    private let metrics: MetricRecorder?
    private let buffer: SpanBuffer
    private let spanLoop: ExportLoop
    private let metricLoop: ExportLoop
    private let state = Locked(State())

    /// Creates an exporter.
    ///
    /// - Parameters:
    ///   - collector: The base URL of the collector, such as `http://localhost:4318`, to which `/v1/traces` and
    ///     `/v1/metrics` are appended. Plain http is allowed to this machine and the local network only.
    ///   - service: The name of the app, the attribute `service.name`.
    ///   - options: What is exported, and how often.
    ///   - transport: The transport to the collector. If `nil`, the system's default transport is used.
    ///   - time: The clock and the timers, by default the system's. It must be the clock of the clients.
    /// - Throws: ``/SwitchyardClient/ClientError`` if the URL is invalid or forbidden, or if the transport cannot be
    ///   created.
    public convenience init(
        collector: String,
        service: String,
        options: Options = Options(),
        transport: (any Transport)? = nil,
        time: any TimeSource = SystemTime.shared
    ) throws(ClientError) {
        try self.init(collector: collector, service: service, options, transport, time) {
            UInt64(max(0, Date().timeIntervalSince1970) * 1e9)
        }
    }

    /// Creates an exporter with a closure that returns the current time in nanoseconds since 1970.
    init(
        collector url: String,
        service: String,
        _ options: Options,
        _ transport: (any Transport)?,
        _ time: any TimeSource,
        now: @escaping @Sendable () -> UInt64
    ) throws(ClientError) {
        let collector = Collector(
            client: try Self.client(for: url, options, transport, time),
            headers: options.headers,
            resource: options.resource(named: service)
        )
        let conventions = HTTPConventions(options)
        let spans = SpanRecorder(Tracer(sampling: options.sampling), conventions) {
            EventClock(date: now(), at: time.now)
        }
        let metrics = MetricRecorder(conventions, start: now())
        let buffer = SpanBuffer(batch: options.spansPerBatch, limit: options.waitingSpans)
        (self.collector, self.time, self.now, self.buffer) = (collector, time, now, buffer)
        self.spans = options.exportsTraces ? spans : nil
        self.metrics = options.exportsMetrics ? metrics : nil
        spanLoop = ExportLoop(every: options.spanInterval, on: time, backlog: { buffer.backlog }) {
            let batch = buffer.take()
            if !batch.isEmpty { buffer.settle(batch.count, await collector.send(batch)) }
        }
        metricLoop = ExportLoop(
            every: options.metricInterval,
            on: time,
            backlog: { metrics.hasChanged ? .some : .none }
        ) {
            if let values = metrics.take(at: now()) { _ = await collector.send(values) }
        }
    }

    private static func client(
        for url: String,
        _ options: Options,
        _ transport: (any Transport)?,
        _ time: any TimeSource
    ) throws(ClientError) -> NetworkClient {
        let service: Service
        do throws(CatalogError) {
            service = try Service(name: "collector", baseURL: url, switching: .off)
        } catch {
            throw .catalog(error)
        }
        var client = NetworkClient.Options()
        client.generator.timeouts.total = options.timeout
        client.generator.responseBodyLimit = 1 << 20
        client.redirects = .refuse
        return try NetworkClient(service: service, transport: transport, options: client, time: time)
    }
}

// MARK: - Clients

extension OpenTelemetryExporter {
    /// The interceptor to add to a client's interceptors.
    ///
    /// It adds `traceparent` to the requests, and observes the calls. Add it after interceptors that set
    /// `APIConfiguration.parentTrace`.
    public var interceptor: RequestInterceptor {
        var interceptor = RequestInterceptor("OpenTelemetry", observer: Observer(exporter: self))
        if let tracer = spans?.tracer {
            interceptor.adapt = { configuration, context in tracer.adapt(&configuration, context) }
        }
        return interceptor
    }

    private struct Observer: CallObserver {
        let exporter: OpenTelemetryExporter

        func observe(_ event: DispatchEvent) { exporter.observe(event) }
    }

    private func observe(_ event: DispatchEvent) {
        if let ended = spans?.observe(event), !ended.isEmpty { add(ended) }
        if metrics?.observe(event) == true { metricLoop.wake() }
    }

    private func add(_ spans: [Span]) {
        buffer.add(spans)
        spanLoop.wake()
    }

    /// Follows the server events of a client.
    ///
    /// Ejections (a failed server is taken out of use for a time) and switches are then counted, and a switch of the
    /// preferred server is added to the spans of the calls in progress. ``flush(within:)`` includes all calls of the
    /// client that have ended. Following a client again has no effect. The exporter does not retain the client.
    ///
    /// - Parameter client: The client, which must have ``interceptor`` among its interceptors.
    public func follow(_ client: NetworkClient) {
        let queue = client.observerQueue
        let isNew = state.withLock { state in
            guard !state.followed.contains(where: { $0 === queue }) else { return false }
            state.followed.append(queue)
            return true
        }
        guard isNew else { return }
        let service = client.service.name
        let events = client.events(bufferingNewest: 1_000)
        Task.detached(priority: .utility) { [weak self] in
            for await event in events { self?.observe(event, of: service) }
            self?.state.withLock { $0.followed.removeAll { $0 === queue } }
        }
    }

    private func observe(_ event: ClientEvent, of service: String) {
        switch event.event.kind {
        case .ejected(let server, _, let cause):
            metrics?.count(
                .ejections,
                [
                    "switchyard.service": .text(service), "switchyard.server": .text(server),
                    "switchyard.cause": .text(cause.rawValue),
                ]
            )
        case .switched(let from, let to, let cause):
            var attributes: Attributes = [
                "switchyard.server.from": .text(from), "switchyard.server.to": .text(to),
                "switchyard.cause": .text(cause.rawValue),
            ]
            spans?.switched(attributes, service: service, in: event.environment, at: event.event.at)
            attributes["switchyard.service"] = .text(service)
            metrics?.count(.switches, attributes)
        default: return
        }
        if metrics != nil { metricLoop.wake() }
    }
}

// MARK: - Export

extension OpenTelemetryExporter {
    /// The numbers of exported, waiting and dropped spans, and of lost calls, until now.
    public var statistics: Statistics {
        var statistics = buffer.statistics
        statistics.lostCalls = spans?.lostCalls ?? 0
        return statistics
    }

    /// Sends all waiting spans and metrics, for example when the app enters the background.
    ///
    /// - Parameter limit: The time after which this method returns anyway, 5 seconds by default.
    public func flush(within limit: Duration = .seconds(5)) async {
        let deadline = time.now.advanced(by: limit)
        for queue in state.withLock({ $0.followed }) {
            let waiter = Waiter<Void>()
            let timer = time.schedule(at: deadline) { waiter.resume(returning: ()) }
            queue.afterEvents { waiter.resume(returning: ()) }
            await waiter.outcome {}
            timer.cancel()
        }
        async let spans: Void = spanLoop.flush(within: time.now.duration(to: deadline))
        async let metrics: Void = metricLoop.flush(within: time.now.duration(to: deadline))
        _ = await (spans, metrics)
    }

    /// Sends all waiting spans and metrics, and then stops.
    ///
    /// Later spans are dropped, and nothing more is sent. Requests still carry a `traceparent` afterwards. Calling this
    /// method again has no effect.
    ///
    /// - Parameter limit: The time after which the rest is dropped, 5 seconds by default.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        await flush(within: limit)
        spanLoop.close()
        metricLoop.close()
        buffer.close()
        collector.shutdown()
    }
}
