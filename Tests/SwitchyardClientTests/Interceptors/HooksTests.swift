import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct HooksTests {
    private enum Trace {
        @TaskLocal static var span = "none"
    }

    @Test func `the event stream of a client ends at its shutdown`() async throws {
        let (client, _) = try NetworkClient.stubbed(options: { _ in }) { _ in .status(200) }
        let events = client.events()

        client.shutdown()

        var count = 0
        for await _ in events { count += 1 }
        #expect(count == 0)
    }

    @Test func `interceptors of the client and of the call observe requests, redirects and responses`()
        async throws
    {
        let seen = Locked<[String]>([])
        let note: @Sendable (String, DispatchEvent) -> Void = { owner, event in
            let text: String? =
                switch event.kind {
                case .attemptSent(let attempt): "sent \(attempt.request.url.path)"
                case .redirected(_, let step): "redirected \(step.to.path)"
                case .attemptEnded(_, .success(let response)): "answered \(response.status) \(response.metrics != nil)"
                case .ended: "ended"
                default: nil
                }
            if let text { seen.withLock { $0.append("\(owner) \(text)") } }
        }
        let log = EventLog()
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [.observing { note("client", $0) }]
        }) { request in
            request.url.path == "/b" ? .response(.sample) : .status(302, headers: ["Location": "/b"])
        }
        var configuration = APIConfiguration(path: "a")
        configuration.interceptors = [.observing { note("call", $0) }, log.interceptor]
        let bytes = Locked<Int64>(0)

        _ = try await client.send(configuration) { progress in bytes.withLock { $0 = progress.completed } }

        _ = await log.events(until: "ended")
        let story = ["sent /v1/a", "answered 302 false", "redirected /b", "sent /b", "answered 200 true", "ended"]
        #expect(seen.withLock { $0 } == story.flatMap { ["client \($0)", "call \($0)"] })
        #expect(bytes.withLock { $0 } == 4)
    }

    @Test func `an observer may report results through another client`() async throws {
        let (collector, collected) = try NetworkClient.stubbed(options: { _ in }) { _ in .status(204) }
        let (client, _) = try NetworkClient.stubbed(options: {
            $0.interceptors = [
                .observing("actions") { event in
                    guard case .ended(.success(let answer)) = event.kind else { return }
                    var action = APIConfiguration(path: "actions", method: .post)
                    action.body = .json(["request": "\(event.id)", "status": answer.status])
                    collector.send(action, on: .global()) { _ in }
                }
            ]
        }) { _ in .status(200) }

        let answer = try await client.send(APIConfiguration(path: "x"))

        await collected.waitForRequests(1)
        guard case .data(let body) = try #require(collected.requests.first).body else {
            Issue.record("the report has no body")
            return
        }
        #expect(String(decoding: body, as: UTF8.self).contains("\"\(answer.id)\""))
    }

    @Test func `interceptors see the task-local values of the calling task`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.interceptors = [.adapting { configuration, _ in configuration.headers["X-Span"] = Trace.span }]
        }) { _ in .status(200) }

        _ = try await Trace.$span.withValue("span-1") { try await client.send(APIConfiguration(path: "x")) }

        #expect(transport.requests.map { $0.headers["X-Span"] } == ["span-1"])
    }
}

extension HTTPResponse {
    /// A response with four bytes and metrics.
    fileprivate static var sample: HTTPResponse {
        var metrics = TransferMetrics(total: .milliseconds(3))
        metrics.bytesReceived = 4
        return HTTPResponse(status: 200, body: .whole(Data("body".utf8)), metrics: metrics)
    }
}
