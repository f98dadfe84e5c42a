import Foundation
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// What an outbox makes of answers and failures, and when it stays away; row D55.
@Suite(.timeLimit(.minutes(5))) struct OutboxSendingTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    private func outbox(
        clock: ManualClock = ManualClock(),
        answer: @escaping @Sendable (HTTPRequest) -> StubAnswer
    ) throws -> (Outbox, StubTransport) {
        let transport = StubTransport(answer)
        var options = NetworkClient.Options(seed: 1)
        options.redirects = .refuse
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: clock)
        return (try Outbox(file: file, client: client), transport)
    }

    private func write(_ path: String) -> APIConfiguration {
        APIConfiguration(path: path, method: .post, timeout: .seconds(7_200))
    }

    @Test(arguments: [TransportError.Kind.invalidRequest, .unsupported])
    func `a write that no transport can send goes, and the next has its turn`(kind: TransportError.Kind) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox { request in
            guard request.url.text.hasSuffix("bad") else { return .status(201) }
            return .failure(TransportError(kind, message: "the head is too large", mayHaveBeenSent: false))
        }
        try outbox.store(write("bad"))
        try outbox.store(write("good"))
        var events = outbox.events().makeAsyncIterator()

        try await outbox.flush()

        #expect(outbox.entries == [])
        #expect(transport.requests.last?.url.path == "/v1/good")
        guard case .unsendable(let entry, _) = await events.next() else {
            Issue.record("expected the write that cannot be sent")
            return
        }
        #expect(entry.path == "bad")
    }

    @Test(arguments: [300, 301, 302, 304, 307, 308])
    func `a redirect that is not followed has not taken the write`(status: Int) async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(status, headers: ["Location": "/elsewhere"]) }
        try outbox.store(write("topics"))
        var events = outbox.events().makeAsyncIterator()

        try await outbox.flush()

        guard case .rejected(_, let answer) = await events.next() else {
            Issue.record("expected a write that was rejected")
            return
        }
        #expect(answer.status == status)
    }

    @Test func `a redirect to the outcome says that the write was taken`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox { _ in .status(303, headers: ["Location": "/topics/7"]) }
        try outbox.store(write("topics"))
        var events = outbox.events().makeAsyncIterator()

        try await outbox.flush()

        guard case .sent = await events.next() else {
            Issue.record("expected a write that was sent")
            return
        }
    }
}
