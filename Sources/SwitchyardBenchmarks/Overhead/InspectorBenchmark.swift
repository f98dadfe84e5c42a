import Switchyard
import SwitchyardInspector

/// A benchmark of the cost of an inspector whose page is not open.
struct InspectorBenchmark {
    let isJSON: Bool
    /// The numbers of concurrent requests.
    var levels = [1, 32, 256]

    func run() async throws {
        let child = try ChildServer()
        let overhead = OverheadBenchmark(url: child.url, isJSON: isJSON)
        let inspected = try overhead.client(of: child.url)
        var options = TrafficInspector.Options()
        options.printsAddress = false
        let inspector = try TrafficInspector(inspected, options: options)
        defer { inspector.stop() }
        let baseline = "without an inspector"
        let contenders = [
            try overhead.manager(baseline, over: overhead.client(of: child.url), child.url),
            try overhead.manager("with an inspector, no page open", over: inspected, child.url),
        ]
        try await RatioContest(baseline: baseline, contenders: contenders, levels: levels, isJSON: isJSON).run()
        withExtendedLifetime(child) {}
    }
}
