import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Counts and measures the calls and attempts of clients, from the creation of the recorder on.
final class MetricRecorder: Sendable {
    /// The maximum number of different attribute sets per metric.
    ///
    /// Further sets are counted together, with the attribute `otel.metric.overflow`.
    static let limit = 1_000

    /// A metric that counts events, so that its value never falls.
    ///
    /// The raw value is the name of the metric.
    enum Counter: String, CaseIterable, Sendable {
        case calls = "switchyard.client.calls"
        case saved = "switchyard.client.saved_calls"
        case ejections = "switchyard.client.ejections"
        case switches = "switchyard.client.switches"

        fileprivate var unit: String {
            switch self {
            case .calls, .saved: "{call}"
            case .ejections: "{ejection}"
            case .switches: "{switch}"
            }
        }

        fileprivate var summary: String {
            switch self {
            case .calls: "Calls that have ended."
            case .saved: "Calls that succeeded although their first server had failed."
            case .ejections: "Servers that were taken out of service."
            case .switches: "Changes of the preferred server."
            }
        }
    }

    private struct State {
        var durations: [Attributes: DurationHistogram] = [:]
        var counters: [Counter: [Attributes: Int]] = [:]
        var hasChanged = false
    }

    private let conventions: HTTPConventions
    /// The time of the recorder's creation in nanoseconds since 1970.
    private let start: UInt64
    private let state = Locked(State())

    init(_ conventions: HTTPConventions, start: UInt64) {
        self.conventions = conventions
        self.start = start
    }

    /// Whether something was recorded after the last ``take(at:)``.
    var hasChanged: Bool { state.withLock { $0.hasChanged } }

    /// Records an event.
    ///
    /// - Returns: Whether the event changed a metric.
    func observe(_ event: DispatchEvent) -> Bool {
        switch event.kind {
        case .attemptEnded(let attempt, let result):
            var attributes = conventions.common(attempt.request, event.call.flatMap(conventions.template))
            conventions.add(result, to: &attributes, withFields: false)
            record(attempt.startedAt.duration(to: event.time), attributes)
        case .ended(let result):
            count(.calls, ["switchyard.service": .text(event.service), "switchyard.outcome": .text(result.outcome)])
            if let kind = result.savingKind {
                count(
                    .saved,
                    ["switchyard.service": .text(event.service), "switchyard.attempt.kind": .text(kind.rawValue)]
                )
            }
        default: return false
        }
        return true
    }

    /// Adds one to a counter.
    func count(_ counter: Counter, _ attributes: Attributes) {
        state.withLock { state in
            state.hasChanged = true
            let key = Self.key(attributes, in: state.counters[counter] ?? [:])
            state.counters[counter, default: [:]][key, default: 0] += 1
        }
    }

    private func record(_ duration: Duration, _ attributes: Attributes) {
        state.withLock { state in
            state.hasChanged = true
            state.durations[Self.key(attributes, in: state.durations), default: DurationHistogram()].record(duration)
        }
    }

    private static func key<Value>(_ attributes: Attributes, in values: [Attributes: Value]) -> Attributes {
        values.count < limit || values[attributes] != nil ? attributes : ["otel.metric.overflow": .bool(true)]
    }

    /// Returns all metrics, or `nil` if nothing has changed since the last call.
    ///
    /// The metrics are in the JSON encoding of OTLP. `now` is the current time in nanoseconds since 1970.
    func take(at now: UInt64) -> [JSONValue]? {
        let state: State? = state.withLock { state in
            guard state.hasChanged else { return nil }
            state.hasChanged = false
            return state
        }
        guard let state else { return nil }
        let times: JSONMembers = [
            "startTimeUnixNano": .string("\(start)"), "timeUnixNano": .string("\(max(start, now))"),
        ]
        let counters = Counter.allCases.compactMap { counter in
            state.counters[counter].map { Self.sum(counter, $0, times) }
        }
        return counters + (state.durations.isEmpty ? [] : [Self.histogram(state.durations, times)])
    }

    private static func sum(_ counter: Counter, _ values: [Attributes: Int], _ times: JSONMembers) -> JSONValue {
        let points = values.map { point($0.key, ["asInt": .string("\($0.value)")], times) }
        return [
            "name": .string(counter.rawValue), "description": .string(counter.summary), "unit": .string(counter.unit),
            "sum": ["aggregationTemporality": 2, "isMonotonic": true, "dataPoints": .array(points)],
        ]
    }

    private static func histogram(_ values: [Attributes: DurationHistogram], _ times: JSONMembers) -> JSONValue {
        let points = values.map { point($0.key, $0.value.json, times) }
        return [
            "name": "http.client.request.duration", "description": "Duration of HTTP client requests.", "unit": "s",
            "histogram": ["aggregationTemporality": 2, "dataPoints": .array(points)],
        ]
    }

    private static func point(_ attributes: Attributes, _ data: JSONMembers, _ times: JSONMembers) -> JSONValue {
        var point = data
        for (name, value) in times { point[name] = value }
        point["attributes"] = attributes.json
        return .object(point)
    }
}

/// A histogram of durations with the boundaries that OpenTelemetry recommends for HTTP.
struct DurationHistogram: Sendable {
    /// The upper boundaries of the buckets in seconds, inclusive.
    ///
    /// One more bucket has no upper boundary.
    static let boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

    private var buckets = [Int](repeating: 0, count: boundaries.count + 1)
    private var sum = 0.0
    private var minimum = Double.infinity
    private var maximum = 0.0

    mutating func record(_ duration: Duration) {
        let seconds = max(0, duration.inSeconds)
        buckets[Self.boundaries.firstIndex { seconds <= $0 } ?? Self.boundaries.count] += 1
        sum += seconds
        (minimum, maximum) = (min(minimum, seconds), max(maximum, seconds))
    }

    /// The members of a data point in the JSON encoding of OTLP.
    var json: JSONMembers {
        [
            "count": .string("\(buckets.reduce(0, +))"),
            "sum": JSONValue(floatLiteral: sum),
            "min": JSONValue(floatLiteral: minimum),
            "max": JSONValue(floatLiteral: maximum),
            "bucketCounts": .array(buckets.map { .string("\($0)") }),
            "explicitBounds": .array(Self.boundaries.map(JSONValue.init(floatLiteral:))),
        ]
    }
}

extension Result where Success == ServiceResponse, Failure == RequestFailure {
    /// The outcome of a call: `success` for a response with a status below 400, `cancelled` or `failure`.
    fileprivate var outcome: String {
        switch self {
        case .success(let response): response.status < 400 ? "success" : "failure"
        case .failure(let failure): failure.isCancellation ? "cancelled" : "failure"
        }
    }

    /// The kind of the attempt that succeeded after a server had failed, or `nil` if no failure of a server was hidden
    /// from the caller.
    ///
    /// A hedge (a second attempt while the first is slow) does not count, because it does not prove that the first
    /// server has failed.
    fileprivate var savingKind: CallAttempt.Kind? {
        guard outcome == "success" else { return nil }
        let attempts = context.history.attempts
        let last = attempts.last { if case .response = $0.ending { true } else { false } }
        switch last?.kind {
        case .failover: return .failover
        case .retry: return attempts.first?.server == last?.server ? nil : .retry
        default: return nil
        }
    }
}
