import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

/// The export to a collector that is slow, overloaded or unavailable.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeliveryTests {
    private let time = ManualClock()

    /// Sends calls, each of which makes two spans, and waits until the exporter has been notified of them.
    private func call(_ client: NetworkClient, times: Int = 1) async {
        for _ in 0..<times { _ = await client.failure(of: .path("topics")) }
        await client.observersNotified()
    }

    private func traces(
        _ collector: CollectorLab,
        _ change: (inout OpenTelemetryExporter.Options) -> Void = { _ in }
    ) throws -> (OpenTelemetryExporter, NetworkClient) {
        let telemetry = try collector.exporter(time: time) {
            $0.exportsMetrics = false
            change(&$0)
        }
        return (telemetry, try NetworkClient.traced(telemetry, switching: .off, time: time) { _ in .status(200) }.0)
    }

    @Test func `spans are sent together five seconds after the first span`() async throws {
        let collector = try CollectorLab()
        let (telemetry, client) = try traces(collector)

        await call(client, times: 3)
        #expect(time.nextDeadline == time.now.advanced(by: .seconds(5)))
        #expect(telemetry.statistics.waitingSpans == 6)
        time.advance(by: .seconds(5))
        await until { telemetry.statistics.exportedSpans == 6 }

        #expect(collector.server.requests.count == 1)
        #expect(try collector.spans().count == 6)
        await until { time.pendingTimers == 0 }
    }

    @Test func `a full batch of spans is sent immediately`() async throws {
        let collector = try CollectorLab()
        let (telemetry, client) = try traces(collector) { $0.spansPerBatch = 4 }

        await call(client, times: 2)
        await until { telemetry.statistics.exportedSpans == 4 }

        #expect(time.now == .zero)
    }

    /// The responses after which the same batch is sent again, and the time until then.
    private static let transient: [(LoopbackResponse, Duration?)] = [
        (.status(429, headers: ["Retry-After": "7"]), .seconds(7)), (.status(502), nil),
        (.status(503, headers: ["Retry-After": "20"]), .seconds(20)), (.status(504), nil),
    ]

    @Test(arguments: transient.indices)
    func `a batch of spans is sent again after a transient status, at the time that the collector requests`(
        _ index: Int
    ) async throws {
        let (response, pause) = Self.transient[index]
        let collector = try CollectorLab(response)
        let (telemetry, client) = try traces(collector)
        await call(client)
        time.advance(by: .seconds(5))
        await collector.server.waitForRequests(1)
        let sentAt = time.now
        await until { time.pendingTimers == 1 && (time.nextDeadline ?? sentAt) != sentAt.advanced(by: .seconds(10)) }
        let again = try #require(time.nextDeadline)

        #expect(again == sentAt.advanced(by: pause ?? sentAt.duration(to: again)))
        #expect(again >= sentAt.advanced(by: .milliseconds(500)))
        collector.answer(.json("{}"))
        time.advance(to: again)
        await until { telemetry.statistics.exportedSpans == 2 }
        #expect(collector.server.requests.count == 2)
        #expect(collector.server.requests[0].body == collector.server.requests[1].body)
    }

    @Test(arguments: [400, 401, 404, 413, 500, 307])
    func `a batch of spans is dropped after any status that is not transient`(_ status: Int) async throws {
        let collector = try CollectorLab(.status(status, headers: ["Location": "/v1/metrics"]))
        let (telemetry, client) = try traces(collector)

        await call(client)
        await telemetry.flush()

        #expect(collector.server.requests.count == 1)
        #expect(telemetry.statistics.droppedSpans == 2)
        #expect(telemetry.statistics.waitingSpans == 0)
    }

    @Test func `spans that the collector rejects are counted as dropped`() async throws {
        let collector = try CollectorLab(.json(#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}"#))
        let (telemetry, client) = try traces(collector)

        await call(client)
        await telemetry.flush()

        #expect(telemetry.statistics.exportedSpans == 1)
        #expect(telemetry.statistics.droppedSpans == 1)
    }

    @Test func `if the collector is down, calls succeed, and spans beyond the limit are dropped`() async throws {
        let collector = try CollectorLab()
        collector.server.stop()
        let (telemetry, client) = try traces(collector) {
            $0.waitingSpans = 10
            $0.spansPerBatch = 4
        }

        for _ in 0..<50 { #expect(try await client.send(APIConfiguration(path: "topics")).status == 200) }
        await call(client)

        let statistics = telemetry.statistics
        #expect(statistics.waitingSpans <= 10)
        #expect(statistics.droppedSpans >= 102 - 10 - 4)
        #expect(statistics.exportedSpans == 0)
        await until {
            time.advance(by: .seconds(20))
            return telemetry.statistics.droppedSpans == 102
        }
        #expect(telemetry.statistics.waitingSpans == 0)
    }

    @Test func `if the collector does not respond, calls succeed, and a flush ends at its limit`() async throws {
        let collector = try CollectorLab()
        collector.server.fault = .hang
        let (telemetry, client) = try traces(collector)
        await call(client)

        let flush = Task { await telemetry.flush(within: .seconds(3)) }
        await collector.server.waitForRequests(1)
        #expect(try await client.send(APIConfiguration(path: "topics")).status == 200)
        time.advance(by: .seconds(3))

        await flush.value
        #expect(telemetry.statistics.exportedSpans == 0)
    }

    @Test func `a shutdown sends the waiting spans, and later spans are dropped`() async throws {
        let collector = try CollectorLab()
        let (telemetry, client) = try traces(collector)
        await call(client)

        await telemetry.shutdown()
        await call(client)
        await telemetry.flush()
        await telemetry.shutdown()

        #expect(collector.server.requests.count == 1)
        #expect(telemetry.statistics.exportedSpans == 2)
        #expect(telemetry.statistics.droppedSpans == 2)
        #expect(time.pendingTimers == 0)
    }

    @Test func `a shutdown drops the spans that the collector does not accept in time`() async throws {
        let collector = try CollectorLab()
        collector.server.fault = .hang
        let (telemetry, client) = try traces(collector)
        await call(client)

        let shutdown = Task { await telemetry.shutdown(within: .seconds(2)) }
        await collector.server.waitForRequests(1)
        time.advance(by: .seconds(2))
        await shutdown.value

        await until { telemetry.statistics.droppedSpans == 2 }
        #expect(telemetry.statistics.waitingSpans == 0)
    }

    @Test func `an exporter does not keep the client that it follows alive`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter(time: time)
        var client: NetworkClient? = try NetworkClient.traced(telemetry, time: time) { _ in .status(200) }.0
        weak var released: NetworkClient?
        released = client
        let events = try #require(client).events()

        client = nil

        #expect(released == nil)
        for await _ in events {}
    }

    /// URLs that no collector can have.
    @Test(arguments: ["", "localhost:4318", "ftp://localhost", "http://collector.example.com"])
    func `an invalid or forbidden URL of a collector is an error`(_ url: String) {
        #expect(throws: ClientError.self) { try OpenTelemetryExporter(collector: url, service: "forum") }
    }
}
