public import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Collects statistics of a client's traffic, per server and per API (a method with a path template).
///
///     let meter = TrafficMeter()
///     options.interceptors = [meter.interceptor]
///     ...
///     print(meter.snapshot.apis["GET topics"]?.latency.quantile(0.99) ?? .zero)
///
/// If the body of a response is read as it arrives (a download, a stream, server-sent events), the response is counted
/// when its head arrives. Its time, bytes and failures then do not include the rest of the body.
public final class TrafficMeter: Sendable {
    /// The statistics of one server or one API.
    public struct Figures: Sendable, Hashable {
        /// The number of finished attempts at a server, or of finished requests of an API.
        public internal(set) var count = 0
        /// The number of attempts or requests that failed or received a status of 500 or above.
        ///
        /// Cancellations are not counted.
        public internal(set) var failures = 0
        /// The number of cancelled attempts or requests.
        public internal(set) var cancelled = 0
        /// The number of retries, including repeats after a token refresh; counted for APIs only.
        public internal(set) var retries = 0
        /// The number of responses by status code.
        public internal(set) var statuses: [Int: Int] = [:]
        /// The number of body bytes sent.
        ///
        /// Exchanges for which the transport does not report this number are not counted.
        public internal(set) var bytesSent: Int64 = 0
        /// The number of body bytes received.
        ///
        /// Exchanges for which the transport does not report this number are not counted. For a download, a stream or
        /// server-sent events, only the bytes that had arrived together with the response head are counted.
        public internal(set) var bytesReceived: Int64 = 0
        /// The durations of the attempts or requests that received a response.
        public internal(set) var latency = LatencyHistogram()
    }

    /// The statistics of all servers and APIs at one point in time.
    public struct Snapshot: Sendable, Hashable {
        /// The statistics of the attempts, by server name.
        ///
        /// Attempts whose URL belongs to no server are counted under `-`.
        public internal(set) var servers: [String: Figures] = [:]
        /// The statistics of the requests, by method and path template, such as `GET users/{id}`.
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
    /// - Parameter limit: The maximum number of separate APIs. Further APIs are counted together under `other`. The
    ///   default is 1,000.
    public init(limit: Int = 1_000) {
        self.limit = max(1, limit)
    }

    /// The current statistics.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// The interceptor to add to a client's interceptors.
    public var interceptor: RequestInterceptor {
        .observing(Observer(meter: self))
    }

    private struct Observer: CallObserver {
        let meter: TrafficMeter

        func callStarted(_ configuration: APIConfiguration, in event: DispatchEvent) {
            meter.state.withLock { $0.names[event.id] = TrafficMeter.name(of: configuration) }
        }

        func attemptEnded(
            _ attempt: AttemptRecord,
            with result: Result<HTTPResponse, TransportError>,
            in event: DispatchEvent
        ) {
            let elapsed = attempt.startedAt.duration(to: event.time)
            meter.state.withLock { state in
                state.snapshot.servers[attempt.server ?? "-", default: Figures()].add(result, elapsed)
            }
        }

        func callEnded(with result: Result<ServiceResponse, RequestFailure>, in event: DispatchEvent) {
            meter.state.withLock { state in
                let name = state.names.removeValue(forKey: event.id) ?? "other"
                let isKnown = state.snapshot.apis[name] != nil || state.snapshot.apis.count < meter.limit
                state.snapshot.apis[isKnown ? name : "other", default: Figures()].add(result)
            }
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
    /// The statistics that are not zero, in one line.
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
        latency.quantile(share).map { "\(name) \($0.inReport)" }
    }
}

extension TrafficMeter.Snapshot: CustomStringConvertible {
    /// The statistics as text: one line per server, then one line per API, each sorted by name.
    ///
    /// The lines contain the paths of the requests. If a path identifies a user, use a template such as `users/{id}`.
    public var description: String {
        [servers, apis].flatMap { figures in figures.sorted { $0.key < $1.key } }
            .map { "\($0.key): \($0.value)" }
            .joined(separator: "\n")
    }
}
