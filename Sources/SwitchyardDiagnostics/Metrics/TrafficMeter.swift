public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Counts what a client does, per server and per API.
///
///     let meter = TrafficMeter()
///     options.interceptors = [meter.interceptor]
///     ...
///     print(meter.snapshot.apis["GET topics"]?.latency.quantile(0.99) ?? .zero)
///
/// What is read as it arrives (a download, a stream, events) counts with the head of its answer: time, bytes and failures
/// are those up to then.
public final class TrafficMeter: Sendable {
    /// The figures of one server or one API.
    public struct Figures: Sendable, Hashable {
        /// Attempts at a server, or requests of an API, that have ended.
        public internal(set) var count = 0
        /// Those that failed below HTTP, or were answered with 500 or above.
        public internal(set) var failures = 0
        /// Those that were cancelled.
        public internal(set) var cancelled = 0
        /// Rounds after the first; of APIs only.
        public internal(set) var retries = 0
        /// How often which status was answered.
        public internal(set) var statuses: [Int: Int] = [:]
        /// Bytes of bodies sent, as far as the transport says.
        public internal(set) var bytesSent: Int64 = 0
        /// Bytes of bodies received, as far as the transport says; of a download, a stream or events what had come with
        /// the head of the answer.
        public internal(set) var bytesReceived: Int64 = 0
        /// How long the answered ones took.
        public internal(set) var latency = LatencyHistogram()
    }

    /// All figures at one moment.
    public struct Snapshot: Sendable, Hashable {
        /// Attempts, by the name of the server; those at URLs of no server under `-`.
        public internal(set) var servers: [String: Figures] = [:]
        /// Requests, by method and path template, such as `GET users/{id}`.
        public internal(set) var apis: [String: Figures] = [:]
    }

    private struct State {
        var snapshot = Snapshot()
        var names: [RequestID: String] = [:]
    }

    private let limit: Int
    private let state = Locked(State())

    /// Creates a meter.
    ///
    /// - Parameter limit: How many APIs are told apart; those beyond are counted together under `other`. 1,000 unless
    ///   given.
    public init(limit: Int = 1_000) {
        self.limit = max(1, limit)
    }

    /// The figures now.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// What has to be among a client's interceptors.
    public var interceptor: RequestInterceptor {
        .observing("meter") { [self] event in take(event) }
    }

    private func take(_ event: DispatchEvent) {
        switch event.kind {
        case .dispatched(let configuration):
            state.withLock { $0.names[event.id] = Self.name(of: configuration) }
        case .attemptEnded(let attempt, let result):
            let elapsed = attempt.startedAt.duration(to: event.time)
            state.withLock { $0.snapshot.servers[attempt.server ?? "-", default: Figures()].add(result, elapsed) }
        case .ended(let result):
            state.withLock { state in
                let name = state.names.removeValue(forKey: event.id) ?? "other"
                let isKnown = state.snapshot.apis[name] != nil || state.snapshot.apis.count < limit
                state.snapshot.apis[isKnown ? name : "other", default: Figures()].add(result)
            }
        case .roundBegan, .attemptSent, .redirected, .roundEnded, .waiting: break
        }
    }

    private static func name(of configuration: APIConfiguration) -> String {
        let place = configuration.place.before(UInt8(ascii: "?"))
        return "\(configuration.sentMethod.name) \(Redaction.standard.url(String(place)))"
    }
}

extension TrafficMeter.Figures {
    mutating func add(_ result: Result<HTTPResponse, TransportError>, _ elapsed: Duration) {
        count += 1
        switch result {
        case .success(let response):
            add(status: response.status, elapsed)
            bytesSent += response.metrics?.bytesSent ?? 0
            bytesReceived += response.metrics?.bytesReceived ?? 0
        case .failure(let error):
            if error.kind == .cancelled { cancelled += 1 } else { failures += 1 }
        }
    }

    mutating func add(_ result: Result<ServiceResponse, RequestFailure>) {
        count += 1
        retries += max(0, result.context.rounds - 1)
        switch result {
        case .success(let answer):
            add(status: answer.status, answer.context.elapsed)
            bytesSent += answer.response.metrics?.bytesSent ?? 0
            bytesReceived += answer.response.metrics?.bytesReceived ?? 0
        case .failure(let failure):
            if failure.isCancellation { cancelled += 1 } else { failures += 1 }
        }
    }

    private mutating func add(status: Int, _ elapsed: Duration) {
        statuses[status, default: 0] += 1
        if status >= 500 { failures += 1 }
        latency.record(elapsed)
    }
}

extension TrafficMeter.Figures: CustomStringConvertible {
    /// The figures that are not zero, in one line.
    public var description: String {
        let parts = [
            "\(count) ended",
            Self.text(failures, "failed"),
            Self.text(cancelled, "cancelled"),
            Self.text(retries, "retries"),
            quantile(0.5, "p50"),
            quantile(0.99, "p99"),
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private static func text(_ count: Int, _ what: String) -> String? {
        count == 0 ? nil : "\(count) \(what)"
    }

    private func quantile(_ share: Double, _ name: String) -> String? {
        latency.quantile(share).map { "\(name) \($0.rounded)" }
    }
}

extension TrafficMeter.Snapshot: CustomStringConvertible {
    /// A line for each server, then one for each API, both in the order of their names.
    ///
    /// It holds the paths of the calls; a path that names a user belongs in a template, `users/{id}`.
    public var description: String {
        [servers, apis].flatMap { figures in figures.sorted { $0.key < $1.key } }
            .map { "\($0.key): \($0.value)" }
            .joined(separator: "\n")
    }
}
