import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

/// Counts of requests and attempts.
@Suite(.timeLimit(.minutes(5)), .prompt) struct TrafficMeterTests {
    @Test func `the traffic meter counts requests per API and attempts per server`() async throws {
        let meter = TrafficMeter()
        let client = try NetworkClient.watched([meter.interceptor]) { request in
            if request.url.text.hasSuffix("down") { return .failure(.connectionReset) }
            return request.url.text.hasSuffix("busy") ? .status(503) : .status(200)
        }
        for path in ["topics", "topics", "busy", "down"] { _ = await client.failure(of: .path(path)) }
        await until { meter.snapshot.apis.values.reduce(0) { $0 + $1.count } == 4 }

        let snapshot = meter.snapshot
        #expect(snapshot.apis["GET topics"]?.count == 2)
        #expect(snapshot.apis["GET topics"]?.statuses == [200: 2])
        #expect(snapshot.apis["GET busy"]?.failures == 1)
        #expect(snapshot.apis["GET down"]?.failures == 1)
        #expect(snapshot.servers["primary"]?.statuses[200] == 2)
        #expect(snapshot.servers.values.reduce(0) { $0 + $1.failures } >= 2)
    }

    @Test func `the API name in the meter has no password`() async throws {
        let meter = TrafficMeter()
        let client = try NetworkClient.watched([meter.interceptor]) { _ in .status(200) }

        _ = await client.failure(of: .path("https://joe:pw@127.0.0.1/x?a=1"))
        await until { meter.snapshot.apis.count == 1 }

        #expect(meter.snapshot.apis.keys.first == "GET https://***@127.0.0.1/x")
    }

    @Test func `a prebuiltRequest is counted under its own method and URL`() async throws {
        let meter = TrafficMeter()
        let client = try NetworkClient.watched([meter.interceptor]) { _ in .status(200) }
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = HTTPRequest(
            method: .post,
            url: try RequestURL(validating: "https://o.example/x?token=a")
        )

        _ = await client.failure(of: configuration)
        await until { meter.snapshot.apis.count == 1 }

        #expect(meter.snapshot.apis.keys.first == "POST https://o.example/x")
    }

    @Test func `the description of a traffic snapshot has one line per server and per API`() async throws {
        let meter = TrafficMeter()
        let clock = ManualClock()
        let client = try NetworkClient.watched([meter.interceptor], time: clock) { request in
            request.url.text.hasSuffix("lost") ? .status(404) : .failure(.protocolViolation)
        }
        for path in ["lost", "lost", "broken"] {
            _ = await client.failure(of: APIConfiguration(path: path, method: .post))
        }
        await until { meter.snapshot.apis.values.reduce(0) { $0 + $1.count } == 3 }

        #expect(
            "\(meter.snapshot)" == """
                primary: 3 ended, 1 failed, p50 0 ms, p99 0 ms
                POST broken: 1 ended, 1 failed
                POST lost: 2 ended, p50 0 ms, p99 0 ms
                """
        )
        #expect("\(TrafficMeter().snapshot)".isEmpty)
    }

    @Test func `the traffic meter counts a limited number of APIs separately`() async throws {
        let meter = TrafficMeter(limit: 2)
        let client = try NetworkClient.watched([meter.interceptor]) { _ in .status(200) }
        for number in 0..<5 { _ = await client.failure(of: .path("\(number)")) }
        await until { meter.snapshot.apis.values.reduce(0) { $0 + $1.count } == 5 }

        #expect(meter.snapshot.apis.count == 3)
        #expect(meter.snapshot.apis["other"]?.count == 3)
    }

    @Test func `quantiles of a latency histogram are accurate to the width of one bucket`() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        for milliseconds in 1...1_000 { histogram.record(.milliseconds(milliseconds)) }

        let median = histogram.quantile(0.5) ?? .zero
        let high = histogram.quantile(0.99) ?? .zero
        #expect(median >= .milliseconds(500) && median <= .milliseconds(625))
        #expect(high >= .milliseconds(990) && high <= .milliseconds(1_000))
        #expect(histogram.quantile(1) == .seconds(1))
        #expect(histogram.quantile(-3) != nil)
    }

    @Test func `durations of any size fall into a bucket of a latency histogram`() {
        var histogram = LatencyHistogram()
        for duration in [Duration.zero, .seconds(-1), .seconds(10_000_000)] { histogram.record(duration) }

        #expect(histogram.count == 3)
        #expect(histogram.maximum == .seconds(10_000_000))
        #expect(histogram.quantile(1) == .seconds(10_000_000))
    }

    @Test func `a request that is cancelled before it starts is counted under its method and path`() async throws {
        let meter = TrafficMeter()
        let client = try NetworkClient.watched([meter.interceptor]) { _ in .status(200) }

        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = await client.failure(of: .path("topics"))
        }.value
        _ = await client.failure(of: .path("users"))
        await until { meter.snapshot.apis["GET users"] != nil }

        #expect(meter.snapshot.apis["GET topics"]?.cancelled == 1)
        #expect(meter.snapshot.apis.keys.sorted() == ["GET topics", "GET users"])
    }
}
