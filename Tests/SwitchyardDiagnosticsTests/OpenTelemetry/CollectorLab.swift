import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

/// A collector on a loopback socket, and what it has received.
final class CollectorLab: Sendable {
    let server = LoopbackServer()

    init(_ response: LoopbackResponse = .json("{}")) throws {
        answer(response)
        try server.start()
    }

    deinit { server.stop() }

    /// Sets the response to all requests.
    func answer(_ response: LoopbackResponse) {
        server.route(.post, "/v1/traces", answering: response)
        server.route(.post, "/v1/metrics", answering: response)
    }

    /// Creates an exporter that sends to this collector.
    func exporter(
        time: any TimeSource = SystemTime.shared,
        _ change: (inout OpenTelemetryExporter.Options) -> Void = { _ in }
    ) throws -> OpenTelemetryExporter {
        var options = OpenTelemetryExporter.Options()
        change(&options)
        return try OpenTelemetryExporter(collector: server.baseURL, service: "forum", options: options, time: time)
    }

    /// The bodies of the requests with a path.
    func bodies(_ path: String) throws -> [JSONValue] {
        try server.requests.filter { $0.path == path && $0.isComplete }.map { try JSONValue(parsing: $0.body) }
    }

    /// The spans that have arrived, in order.
    func spans() throws -> [ReceivedSpan] {
        try bodies("/v1/traces").flatMap { body in
            let scopes = body.value(at: "resourceSpans.0.scopeSpans")?.array ?? []
            return scopes.flatMap { $0["spans"]?.array ?? [] }.map { ReceivedSpan(json: $0) }
        }
    }

    /// The data points of the newest export of a metric.
    func points(_ metric: String) throws -> [JSONValue] {
        let metrics = try bodies("/v1/metrics").last?.value(at: "resourceMetrics.0.scopeMetrics.0.metrics")?.array ?? []
        let found = metrics.first { $0["name"]?.string == metric }
        return (found?["sum"] ?? found?["histogram"])?["dataPoints"]?.array ?? []
    }
}

/// A span as the collector has received it.
struct ReceivedSpan {
    let json: JSONValue

    var trace: String? { json["traceId"]?.string }
    var id: String? { json["spanId"]?.string }
    var parent: String? { json["parentSpanId"]?.string }
    var name: String? { json["name"]?.string }
    var kind: Int? { json["kind"]?.int }
    var start: UInt64? { json["startTimeUnixNano"]?.string.flatMap { UInt64($0) } }
    var end: UInt64? { json["endTimeUnixNano"]?.string.flatMap { UInt64($0) } }
    var hasFailed: Bool { json["status"]?["code"]?.int == 2 }
    var attributes: [String: String] { json.attributes }
    /// The names of the events with their attributes.
    var events: [(name: String, attributes: [String: String])] {
        (json["events"]?.array ?? []).map { ($0["name"]?.string ?? "", $0.attributes) }
    }
}

extension JSONValue {
    /// The attributes as texts.
    var attributes: [String: String] {
        let pairs = (self["attributes"]?.array ?? []).map { pair in
            let value = pair["value"]
            let list = value?.value(at: "arrayValue.values")?.array?.compactMap { $0["stringValue"]?.string }
            let text = value?["stringValue"]?.string ?? value?["intValue"]?.string ?? list?.joined(separator: "|")
            return (pair["key"]?.string ?? "", text ?? "?")
        }
        return Dictionary(pairs) { $1 }
    }
}

extension NetworkClient {
    /// A client whose calls are traced, with a stub transport.
    static func traced(
        _ telemetry: OpenTelemetryExporter,
        switching: SwitchPolicy = .recommended,
        time: any TimeSource = SystemTime.shared,
        options change: (inout Options) -> Void = { _ in },
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse
    ) throws -> (NetworkClient, StubTransport) {
        let transport = StubTransport(answer)
        var options = Options(seed: 1)
        options.interceptors = [telemetry.interceptor]
        change(&options)
        let service = try Service.topics(switching: switching)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: time)
        telemetry.follow(client)
        return (client, transport)
    }
}

extension NetworkClient {
    /// Waits until the observers have been notified of all events so far.
    func observersNotified() async {
        await withCheckedContinuation { continuation in
            observerQueue.afterEvents { continuation.resume() }
        }
    }
}
