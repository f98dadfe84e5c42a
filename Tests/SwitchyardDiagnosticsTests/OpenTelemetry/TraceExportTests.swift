import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardDiagnostics

/// The spans of calls, as a collector receives them.
@Suite(.timeLimit(.minutes(5)), .prompt) struct TraceExportTests {
    private let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test
    func `a call that failed over is one span with a child span per attempt, and each attempt sends its traceparent`()
        async throws
    {
        let collector = try CollectorLab()
        let (broken, sound) = (LoopbackServer(), LoopbackServer())
        broken.route(.get, "/topics", answering: .status(503))
        sound.route(.get, "/topics", answering: .json("[]"))
        try broken.start()
        try sound.start()
        defer { for server in [broken, sound] { server.stop() } }
        let telemetry = try collector.exporter()
        let client = try NetworkClient(service: .loopback([broken, sound])) {
            $0.interceptors = [telemetry.interceptor]
        }
        telemetry.follow(client)

        #expect(try await client.send(APIConfiguration(path: "topics", query: ["page": 7])).status == 200)
        await telemetry.flush()

        let spans = try collector.spans()
        try #require(spans.count == 3)
        let (call, first, second) = (spans[0], spans[1], spans[2])
        #expect((call.name, call.kind, call.parent) == ("GET topics", 1, nil))
        #expect(!call.hasFailed)
        #expect(call.attributes["switchyard.attempts"] == "2")
        #expect(call.attributes["switchyard.server"] == "secondary")
        #expect(call.attributes["http.response.status_code"] == "200")
        #expect(call.events.map(\.name) == ["switchyard.failover"])
        #expect(
            call.events.first?.attributes == [
                "switchyard.server.from": "primary", "switchyard.server.to": "secondary", "error.type": "503",
            ]
        )
        #expect((first.name, first.kind, first.hasFailed) == ("GET", 3, true))
        #expect((second.name, second.kind, second.hasFailed) == ("GET", 3, false))
        #expect(Set(spans.map(\.trace)).count == 1)
        #expect([first.parent, second.parent] == [call.id, call.id])
        #expect(
            first.attributes == [
                "http.request.method": "GET", "http.response.status_code": "503", "error.type": "503",
                "network.protocol.version": "1.1", "server.address": "127.0.0.1", "server.port": "\(broken.port)",
                "switchyard.attempt.kind": "first", "switchyard.server": "primary",
                "url.full": "\(broken.baseURL)/topics?page=***",
            ]
        )
        #expect(second.attributes["http.request.resend_count"] == "1")
        #expect(second.attributes["switchyard.attempt.kind"] == "failover")
        for (server, span) in [(broken, first), (sound, second)] {
            let received = try #require(server.requests.first.flatMap { TraceContext($0.headers) })
            #expect((received.traceID, received.spanID, received.isSampled) == (span.trace, span.id, true))
        }
        let times = [call.start, first.start, first.end, second.start, second.end, call.end].compactMap(\.self)
        #expect(times.count == 6)
        #expect(times == times.sorted())
        let now = UInt64(Date().timeIntervalSince1970 * 1e9)
        #expect(times.allSatisfy { now.subtractingReportingOverflow($0).partialValue < 60_000_000_000 })
    }

    // The attribute `network.protocol.version` of the semantic conventions is the version alone.
    @Test(arguments: [("HTTP/1.1", "1.1"), ("h2", "2"), ("h3-29", "3"), ("spdy", nil)] as [(String, String?)])
    func `a span has the version of the protocol, however the transport names it`(
        name: String,
        version: String?
    ) async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, _) = try NetworkClient.traced(telemetry) { _ in
            var metrics = TransferMetrics(total: .milliseconds(1))
            metrics.networkProtocol = name
            return .response(HTTPResponse(status: 200, body: .whole(Data()), metrics: metrics))
        }

        _ = try await client.send(.path("topics"))
        await telemetry.flush()

        #expect(try collector.spans().last?.attributes["network.protocol.version"] == version)
    }

    @Test func `the export names the app and has the header fields that the collector requires`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter {
            $0.headers = ["X-Key": "k"]
            $0.resource = ["deployment.environment.name": "test"]
        }
        let (client, _) = try NetworkClient.traced(telemetry) { _ in .status(200) }

        _ = await client.failure(of: .path("topics"))
        await telemetry.flush()

        let request = try #require(collector.server.requests.first { $0.path == "/v1/traces" })
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.headers["X-Key"] == "k")
        #expect(collector.server.requests.allSatisfy { $0.headers["traceparent"] == nil })
        let body = try JSONValue(parsing: request.body)
        #expect(
            body.value(at: "resourceSpans.0.resource")?.attributes == [
                "service.name": "forum", "deployment.environment.name": "test", "telemetry.sdk.language": "swift",
                "telemetry.sdk.name": "switchyard",
            ]
        )
        #expect(body.value(at: "resourceSpans.0.scopeSpans.0.scope.name")?.string == "Switchyard")
    }

    /// The ways in which a call continues a trace.
    enum Continuation: CaseIterable { case task, call, field }

    @Test(arguments: Continuation.allCases)
    func `a call continues the trace that its task, its configuration or its traceparent field defines`(
        _ continuation: Continuation
    ) async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, transport) = try NetworkClient.traced(telemetry) { _ in .status(200) }
        let context = TraceContext(traceparent: parent, tracestate: "vendor=1")
        var configuration = APIConfiguration(path: "topics")
        if continuation == .call { configuration.parentTrace = context }
        if continuation == .field { configuration.headers = ["Traceparent": parent, "tracestate": "vendor=1"] }

        await TraceContext.$current.withValue(continuation == .task ? context : nil) { [configuration] in
            _ = await client.failure(of: configuration)
        }
        await telemetry.flush()

        let spans = try collector.spans()
        #expect(spans.count == 2)
        #expect(spans.allSatisfy { $0.trace == context?.traceID && $0.json["traceState"]?.string == "vendor=1" })
        #expect(spans.first?.parent == context?.spanID)
        let sent = try #require(transport.requests.first)
        #expect(sent.headers.values(of: "traceparent").count == 1)
        #expect(TraceContext(sent.headers)?.spanID == spans.last?.id)
        #expect(sent.headers["tracestate"] == "vendor=1")
    }

    @Test func `an invalid traceparent of a call is replaced, and its tracestate is removed`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, transport) = try NetworkClient.traced(telemetry) { _ in .status(200) }

        let fields: HTTPHeaders = ["traceparent": "00-zz-b7ad6b7169203331-01", "tracestate": "vendor=1"]
        _ = await client.failure(of: APIConfiguration(path: "topics", headers: fields))
        await telemetry.flush()

        let spans = try collector.spans()
        #expect(spans.first?.parent == nil)
        let sent = try #require(transport.requests.first)
        #expect(TraceContext(sent.headers)?.traceID == spans.first?.trace)
        #expect(sent.headers["tracestate"] == nil)
    }

    @Test func `a call in a trace that is not sampled passes the trace on and is not exported`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter { $0.exportsMetrics = false }
        let (client, transport) = try NetworkClient.traced(telemetry) { _ in .status(200) }
        var configuration = APIConfiguration(path: "topics")
        configuration.parentTrace = TraceContext(traceparent: "\(parent.dropLast())0")

        _ = await client.failure(of: configuration)
        await telemetry.flush()

        #expect(collector.server.requests.isEmpty)
        let sent = try #require(transport.requests.first.flatMap { TraceContext($0.headers) })
        #expect(sent.traceID == configuration.parentTrace?.traceID)
        #expect(!sent.isSampled)
    }

    @Test func `each retry of a call belongs to the same trace, and each attempt has its own span`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let answers = Locked([StubResponse.status(429), .status(200)])
        let (client, transport) = try NetworkClient.traced(
            telemetry,
            options: { $0.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.milliseconds(1))) }
        ) { _ in
            answers.withLock { $0.removeFirst() }
        }

        _ = await client.failure(of: .path("topics"))
        await telemetry.flush()

        let spans = try collector.spans()
        #expect(spans.map(\.parent) == [nil, spans[0].id, spans[0].id])
        #expect(spans[0].events.map(\.name) == ["switchyard.retry"])
        #expect(transport.requests.compactMap { TraceContext($0.headers)?.spanID } == spans.dropFirst().map(\.id))
        #expect(Set(transport.requests.compactMap { TraceContext($0.headers)?.traceID }).count == 1)
    }

    @Test func `the trace of a hedged call shows the slow attempt as cancelled`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let time = ManualClock()
        let (client, transport) = try NetworkClient.traced(telemetry, time: time) { request in
            request.server == "primary" ? .never : .status(200)
        }
        let reason = Task { await client.failure(of: APIConfiguration(path: "list", timeout: .seconds(2))) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1, in: .milliseconds(250)))
        time.advance(by: .milliseconds(250))
        #expect(await reason.value == nil)
        await telemetry.flush()

        let spans = try collector.spans()
        try #require(spans.count == 3)
        #expect(spans[0].events.map(\.name) == ["switchyard.hedge"])
        #expect(spans[1].attributes["error.type"] == "cancelled")
        #expect(!spans[1].hasFailed)
        #expect(spans[1].attributes["switchyard.server"] == "primary")
        #expect(spans[2].attributes["switchyard.attempt.kind"] == "hedge")
        #expect(!spans[0].hasFailed)
    }

    @Test func `a redirect is an event of its attempt`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, transport) = try NetworkClient.traced(telemetry) { request in
            request.url.text.hasSuffix("old") ? .status(302, headers: ["Location": "/new?token=secret"]) : .status(200)
        }

        _ = await client.failure(of: .path("old"))
        await telemetry.flush()

        let spans = try collector.spans()
        try #require(spans.count == 2)
        #expect(transport.requests.count == 2)
        #expect(spans[1].events.map(\.name) == ["switchyard.redirect"])
        #expect(
            spans[1].events.first?.attributes == [
                "http.response.status_code": "302", "url.full": "http://primary.test/new?token=***",
            ]
        )
        #expect(spans[1].attributes["http.response.status_code"] == "200")
    }

    @Test func `the trace of a failed call names the failure and states why no failover followed`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, _) = try NetworkClient.traced(telemetry) { _ in .failure(.timeout) }

        _ = await client.failure(of: APIConfiguration(path: "topics", method: .post))
        await telemetry.flush()

        let spans = try collector.spans()
        #expect(spans.map(\.hasFailed) == [true, true])
        #expect(spans.map { $0.attributes["error.type"] } == ["timeout", "timeout"])
        #expect(spans[0].attributes["switchyard.failover.stopped_by"] == "must not be sent again")
    }

    @Test func `a call that is cancelled before it starts is a span without attempts`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, _) = try NetworkClient.traced(telemetry) { _ in .status(200) }
        var configuration = APIConfiguration(path: "topics")
        configuration.parentTrace = TraceContext(traceparent: parent)

        await Task { [configuration] in
            withUnsafeCurrentTask { $0?.cancel() }
            _ = await client.failure(of: configuration)
        }.value
        await telemetry.flush()

        let spans = try collector.spans()
        #expect(spans.map(\.name) == ["GET topics"])
        #expect(spans.first?.attributes["error.type"] == "cancelled")
        #expect(spans.first?.parent == configuration.parentTrace?.spanID)
        #expect(spans.first?.hasFailed == false)
    }

    @Test func `by default, no secret, query value, header field or body is exported`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, _) = try NetworkClient.traced(telemetry) { _ in .loggedIn }

        _ = await client.failure(of: .login)
        _ = await client.failure(of: .path("https://joe:pw@127.0.0.1/hooks/a1b2c3d4e5f6a7b8c9d0e1f2a3b4?q=secret"))
        await telemetry.flush()

        let sent = collector.server.requests.map(\.text).joined()
        #expect(try collector.spans().count == 4)
        for secret in ["secret", "joe", "pw@", "sid=", "a1b2c3d4e5f6"] { #expect(!sent.contains(secret), "\(secret)") }
        #expect(sent.contains("page=***"))
    }

    @Test func `if the app enables their export, query values and header fields are exported without secrets`()
        async throws
    {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter {
            $0.showsQueryValues = true
            $0.headerNames = ["X-Trace", "Authorization", "content-type", "Absent"]
        }
        let (client, _) = try NetworkClient.traced(telemetry) { _ in .loggedIn }

        _ = await client.failure(of: .login)
        await telemetry.flush()

        let attempt = try #require(try collector.spans().last)
        #expect(attempt.attributes["url.full"] == "http://primary.test/v1/login?page=1&token=***")
        #expect(attempt.attributes["http.request.header.x-trace"] == "7")
        #expect(attempt.attributes["http.request.header.authorization"] == "Bearer ***")
        #expect(attempt.attributes["http.response.header.content-type"] == "application/json")
        #expect(attempt.attributes["http.request.header.absent"] == nil)
        #expect(!collector.server.requests.map(\.text).joined().contains("secret"))
    }

    @Test func `a path template names the spans of a call and of its attempts`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, _) = try NetworkClient.traced(telemetry) { _ in .status(200) }
        var configuration = APIConfiguration(path: "users/{id}?full=1", method: try #require(HTTPMethod("PURGE")))
        configuration.pathValues = ["id": 17]

        _ = await client.failure(of: configuration)
        await telemetry.flush()

        let spans = try collector.spans()
        #expect(spans.map(\.name) == ["HTTP users/{id}", "HTTP users/{id}"])
        #expect(spans.last?.attributes["url.template"] == "users/{id}")
        #expect(spans.last?.attributes["http.request.method"] == "_OTHER")
        #expect(spans.last?.attributes["http.request.method_original"] == "PURGE")
    }

    @Test func `a switch of the preferred server is an event of the calls in progress`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, transport) = try NetworkClient.traced(telemetry, switching: .off) { _ in .never }
        let call = Task { await client.failure(of: .path("topics")) }
        #expect(await transport.waitForRequests(1))
        await client.observersNotified()

        try client.switchServer(to: "secondary")
        await telemetry.waitForMetric("switchyard.client.switches", in: collector)
        client.cancelAll()
        _ = await call.value
        await telemetry.flush()

        let events = try collector.spans().first?.events ?? []
        #expect(events.map(\.name) == ["switchyard.switched"])
        #expect(events.first?.attributes["switchyard.server.to"] == "secondary")
        #expect(events.first?.attributes["switchyard.cause"] == "requested")
    }

    @Test func `a modifier of the call can remove the traceparent`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter()
        let (client, transport) = try NetworkClient.traced(telemetry) { _ in .status(200) }
        var configuration = APIConfiguration(path: "topics")
        configuration.modifier = { $0.headers.remove("traceparent") }

        _ = await client.failure(of: configuration)
        await telemetry.flush()

        #expect(transport.requests.first?.headers["traceparent"] == nil)
        let spans = try collector.spans()
        #expect(spans.count == 2)
        #expect(spans.last?.parent == spans.first?.id)
    }

    @Test func `without traces, requests carry no traceparent`() async throws {
        let collector = try CollectorLab()
        let telemetry = try collector.exporter { $0.exportsTraces = false }
        let (client, transport) = try NetworkClient.traced(telemetry) { _ in .status(200) }

        _ = await client.failure(of: .path("topics"))
        await telemetry.flush()

        #expect(transport.requests.first?.headers["traceparent"] == nil)
        #expect(collector.server.requests.map(\.path) == ["/v1/metrics"])
    }
}

extension OpenTelemetryExporter {
    /// Sends metrics until the collector has received one.
    func waitForMetric(_ name: String, in collector: CollectorLab) async {
        while !Task.isCancelled {
            await flush()
            if (try? collector.points(name).isEmpty) == false { return }
            await Task.yield()
        }
    }
}
