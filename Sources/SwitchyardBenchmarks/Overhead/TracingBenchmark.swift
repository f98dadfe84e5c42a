import Switchyard
import SwitchyardDiagnostics
import SwitchyardTesting

/// A benchmark of the cost of traces: for a client without an exporter in a program that has one, and for a client
/// whose calls are exported.
struct TracingBenchmark {
    let isJSON: Bool
    /// The numbers of concurrent requests.
    var levels = [1, 32, 256]

    func run() async throws {
        let child = try ChildServer()
        let overhead = OverheadBenchmark(url: child.url, isJSON: isJSON)
        let collector = LoopbackServer()
        for path in ["/v1/traces", "/v1/metrics"] { collector.route(.post, path, answering: .json("{}")) }
        try collector.start()
        let telemetry = try OpenTelemetryExporter(collector: collector.baseURL, service: "benchmark")
        let traced = try overhead.client(of: child.url, interceptors: [telemetry.interceptor])
        telemetry.follow(traced)
        let baseline = "without an exporter"
        let contenders = [
            try overhead.manager(baseline, over: overhead.client(of: child.url), child.url),
            try overhead.manager("the same again", over: overhead.client(of: child.url), child.url),
            try overhead.manager("with an exporter", over: traced, child.url),
        ]
        try await RatioContest(baseline: baseline, contenders: contenders, levels: levels, isJSON: isJSON).run()
        await telemetry.shutdown(within: .seconds(1))
        collector.stop()
        withExtendedLifetime(child) {}
    }
}
