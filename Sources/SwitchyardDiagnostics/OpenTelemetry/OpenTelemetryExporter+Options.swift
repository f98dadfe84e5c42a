public import SwitchyardHTTP

extension OpenTelemetryExporter {
    /// The options of an exporter.
    public struct Options: Sendable {
        /// Whether calls become traces, `true` by default.
        ///
        /// If `false`, requests carry no `traceparent`.
        public var exportsTraces = true
        /// Whether calls are counted and measured, `true` by default.
        public var exportsMetrics = true
        /// The rule that decides which traces are recorded.
        ///
        /// By default, a call with a parent follows the parent's sampled flag, and a trace without one is recorded.
        public var sampling = TraceSampling.parentBased()
        /// The header fields of the requests to the collector, such as an API key, none by default.
        public var headers: HTTPHeaders = [:]
        /// Further attributes of the app, such as `deployment.environment.name`, none by default.
        public var resource: [String: String] = [:]
        /// Whether the values in queries of URLs are exported, `false` by default.
        ///
        /// The names are always exported. Values that ``redaction`` hides stay hidden.
        public var showsQueryValues = false
        /// The names of the header fields of requests and responses that are exported, none by default.
        ///
        /// Values that ``redaction`` hides stay hidden.
        public var headerNames: Set<String> = []
        /// The rules by which credentials are hidden; the default is ``/SwitchyardHTTP/Redaction/standard``.
        public var redaction = Redaction.standard
        /// The time from the end of a call to the export of its spans, 5 seconds by default.
        public var spanInterval = Duration.seconds(5)
        /// The time from a change of a metric to its export, one minute by default.
        ///
        /// If nothing changes, nothing is sent.
        public var metricInterval = Duration.seconds(60)
        /// The maximum number of spans that are sent together, 512 by default.
        ///
        /// If this number of spans is waiting, they are sent before the interval has passed.
        public var spansPerBatch = 512
        /// The maximum number of spans that wait to be sent, 2,048 by default.
        ///
        /// Further spans are dropped.
        public var waitingSpans = 2_048
        /// The time that a request to the collector may take, 10 seconds by default.
        public var timeout = Duration.seconds(10)

        /// Creates options with the default values.
        public init() {}

        /// Returns the attributes of the app.
        func resource(named service: String) -> Attributes {
            var attributes: Attributes = [
                "telemetry.sdk.name": "switchyard", "telemetry.sdk.language": "swift", "service.name": .text(service),
            ]
            for (name, value) in resource { attributes[name] = .text(value) }
            return attributes
        }
    }
}
