import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

/// The metrics of clients, as a collector receives them.
@Suite(.timeLimit(.minutes(5)), .prompt) struct MetricExportTests {
    @Test func `the duration of each request is counted in the buckets of OpenTelemetry`() async throws {
        let collector = try CollectorLab()
        let time = ManualClock()
        let telemetry = try collector.exporter(time: time) { $0.exportsTraces = false }
        let waits = Locked([Duration.milliseconds(5), .milliseconds(30), .seconds(11)])
        let (client, _) = try NetworkClient.traced(telemetry, switching: .off, time: time) { _ in
            time.advance(by: waits.withLock { $0.removeFirst() })
            return .status(200)
        }

        for _ in 0..<3 { _ = await client.failure(of: .path("topics")) }
        await telemetry.flush()

        let point = try #require(try collector.points("http.client.request.duration").first)
        #expect(point["count"]?.string == "3")
        #expect(abs((point["sum"]?.double ?? 0) - 11.035) < 1e-9)
        #expect((point["min"]?.double, point["max"]?.double) == (0.005, 11))
        #expect(
            point["explicitBounds"]?.array?.compactMap(\.double) == [
                0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
            ]
        )
        let counts = point["bucketCounts"]?.array?.compactMap(\.string)
        #expect(counts == ["1", "0", "0", "1", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "1"])
        #expect(
            point.attributes == [
                "http.request.method": "GET", "http.response.status_code": "200", "server.address": "primary.test",
                "server.port": "80",
            ]
        )
    }

    @Test func `the metrics of a failed request contain the type of its error`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, _) = try NetworkClient.traced(telemetry, switching: .off) { request in
            request.url.text.hasSuffix("down") ? .failure(.connectionRefused) : .status(404)
        }

        for path in ["down", "lost"] { _ = await client.failure(of: .path(path)) }
        await telemetry.flush()

        let points = try collector.points("http.client.request.duration").map(\.attributes)
        #expect(Set(points.compactMap { $0["error.type"] }) == ["connectionRefused", "404"])
        #expect(points.compactMap { $0["http.response.status_code"] } == ["404"])
        let calls = try collector.points("switchyard.client.calls")
        #expect(calls.map { $0.attributes["switchyard.outcome"] } == ["failure"])
        #expect(calls.first?["asInt"]?.string == "2")
    }

    @Test
    func `three metrics count calls that a failover saved, ejected servers, and switches of the preferred server`()
        async throws
    {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, _) = try NetworkClient.traced(telemetry) { request in
            request.server == "primary" ? .failure(.connectionRefused) : .status(200)
        }

        for _ in 0..<40 { _ = await client.failure(of: .path("topics")) }
        await telemetry.waitForMetric("switchyard.client.ejections", in: collector)
        await telemetry.waitForMetric("switchyard.client.switches", in: collector)

        let saved = try #require(try collector.points("switchyard.client.saved_calls").first)
        #expect(saved.attributes == ["switchyard.service": "topics", "switchyard.attempt.kind": "failover"])
        #expect((saved["asInt"]?.string.flatMap { Int($0) } ?? 0) > 0)
        let ejection = try #require(try collector.points("switchyard.client.ejections").first)
        #expect(ejection.attributes["switchyard.server"] == "primary")
        let switched = try #require(try collector.points("switchyard.client.switches").first)
        #expect(switched.attributes["switchyard.server.from"] == "primary")
    }

    @Test func `metrics are sent a minute after a change, and no metrics are sent without a change`() async throws {
        let collector = try CollectorLab()
        let time = ManualClock()
        let telemetry = try collector.exporter(time: time) { $0.exportsTraces = false }
        let (client, _) = try NetworkClient.traced(telemetry, switching: .off, time: time) { _ in .status(200) }
        #expect(time.pendingTimers == 0)

        _ = await client.failure(of: .path("topics"))
        await client.observersNotified()
        #expect(time.nextDeadline == time.now.advanced(by: .seconds(60)))
        #expect(collector.server.requests.isEmpty)
        time.advance(by: .seconds(60))
        await collector.server.waitForRequests(1)
        await until { time.pendingTimers == 0 }

        #expect(collector.server.requests.map(\.path) == ["/v1/metrics"])
        await telemetry.flush()
        #expect(collector.server.requests.count == 1)
    }

    @Test func `the number of different attributes in the metrics is limited`() throws {
        let recorder = MetricRecorder(HTTPConventions(OpenTelemetryExporter.Options()), start: 1)

        for number in 0..<(MetricRecorder.limit + 5) { recorder.count(.switches, ["to": .int(number)]) }

        let points = try #require(recorder.take(at: 0)?.first?.value(at: "sum.dataPoints")?.array)
        #expect(points.count == MetricRecorder.limit + 1)
        let rest = points.first { $0.attributes["otel.metric.overflow"] != nil }
        #expect(rest?["asInt"]?.string == "5")
        #expect(points.allSatisfy { $0["timeUnixNano"]?.string == "1" })
        #expect(recorder.take(at: 2) == nil)
    }
}
