import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardOutbox

/// The outbox.
@Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")

    /// A server with a switchable state that records the received keys.
    private final class Backend: Sendable {
        private struct State {
            var status: Int? = 201
            var keys: [String] = []
        }

        private let state = Locked(State())

        var keys: [String] { state.withLock { $0.keys } }

        func answer(_ status: Int?) { state.withLock { $0.status = status } }

        @Sendable func answer(to request: HTTPRequest) -> StubResponse {
            state.withLock { state in
                guard let status = state.status else { return .failure(.connectionRefused) }
                if status < 400 { state.keys.append(request.headers["Idempotency-Key"] ?? "none") }
                return .status(status)
            }
        }
    }

    private func write(_ number: Int) -> APIConfiguration {
        var configuration = APIConfiguration(path: "topics", method: .post, timeout: .seconds(3_600))
        configuration.body = .json(["title": "\(number)"])
        configuration.idempotencyKey = .given("key \(number)")
        return configuration
    }

    private func outbox(
        _ backend: Backend,
        _ options: Outbox.Options = Outbox.Options(),
        clock: ManualClock = ManualClock(),
        date: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 0) }
    ) throws -> (Outbox, StubTransport) {
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock, backend.answer(to:))
        return (try Outbox(file: file, client: client, options: options, date: date), transport)
    }

    /// An outbox that has sent its first write and can be closed at any time.
    private func outboxThatSent(to backend: Backend) async throws -> Outbox {
        let (outbox, _) = try outbox(backend)
        try outbox.store(write(1))
        try await outbox.flush()
        return outbox
    }

    @Test func `writes that could not be sent are sent in order when the server is available again`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        backend.answer(nil)
        let (outbox, _) = try outbox(backend)
        for number in 1...3 { try outbox.store(write(number)) }
        #expect(try await outbox.flush() == .seconds(5))
        #expect(outbox.entries.count == 3)

        backend.answer(201)
        #expect(try await outbox.flush() == nil)

        #expect(backend.keys == ["key 1", "key 2", "key 3"])
        #expect(outbox.entries == [])
    }

    @Test func `a restarted outbox continues with the unsent writes and the same idempotency keys`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        do {
            let first = try await outboxThatSent(to: backend)
            try first.store(APIConfiguration(path: "topics", method: .post))
            try first.store(write(3))
        }

        let (second, _) = try outbox(backend)
        let key = try #require(second.entries.first?.idempotencyKey)
        try await second.flush()

        #expect(backend.keys == ["key 1", key, "key 3"])
        #expect(!key.isEmpty)
    }

    @Test func `a write stored after a restart is not mistaken for a write that was sent`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        _ = try await outboxThatSent(to: backend)
        do {
            let (second, _) = try outbox(backend)
            try second.store(write(2))
        }

        let (third, _) = try outbox(backend)

        #expect(third.entries.map(\.idempotencyKey) == ["key 2"])
    }

    @Test func `an outbox rejects a write above the size limit and keeps later writes`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        do {
            let (first, _) = try outbox(backend)
            var large = write(1)
            large.body = .data(Data(count: 49 << 20))
            #expect(throws: OutboxError.unstorableBody) { try first.store(large) }
            try first.store(write(2))
        }

        let (second, _) = try outbox(backend)

        #expect(second.entries.map(\.idempotencyKey) == ["key 2"])
    }

    @Test func `an outbox stores the path values of a write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox(Backend())
        var write = APIConfiguration(path: "topics/{id}/likes", method: .put)
        write.pathValues = ["id": "a b"]
        var faulty = write
        faulty.pathValues = [:]

        try outbox.store(write)
        #expect(throws: OutboxError.self) { try outbox.store(faulty) }
        try await outbox.flush()

        #expect(transport.requests.map(\.url.text).first?.hasSuffix("/v1/topics/a%20b/likes") == true)
        #expect(outbox.entries == [])
    }

    @Test func `an outbox stores the API version of a write`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox(Backend())
        var write = APIConfiguration(path: "topics", method: .post)
        write.apiVersion = "v7"
        try outbox.store(write)

        try await outbox.flush()

        #expect(transport.requests.map(\.url.text).first?.hasSuffix("/v7/topics") == true)
    }

    @Test func `sent writes are reported and removed even if the file cannot be compacted`() async throws {
        defer { for ending in ["", ".new"] { try? FileManager.default.removeItem(atPath: file.path + ending) } }
        let backend = Backend()
        let (outbox, _) = try outbox(backend)
        for number in 1...40 { try outbox.store(write(number)) }
        var events = outbox.events().makeAsyncIterator()
        try FileManager.default.createDirectory(atPath: file.path + ".new", withIntermediateDirectories: false)

        #expect(try await outbox.flush() == nil)

        #expect(backend.keys.count == 40)
        for _ in 1...40 {
            guard case .sent = await events.next() else {
                Issue.record("expected a write that was sent")
                return
            }
        }
    }

    @Test func `a running outbox retries after a flush by another task has failed`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let clock = ManualClock()
        let backend = Backend()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { request in
            .delayed(by: .seconds(1), on: clock, backend.answer(to: request))
        }
        let outbox = try Outbox(file: file, client: client)
        backend.answer(503)
        try outbox.store(write(1))
        let other = Task { try await outbox.flush() }
        await until { transport.requestCount == 1 }
        await clock.waitForTimers(3)  // Its timers, none of which is the pause of the outbox.

        // While the other task sends, the outbox has no work.
        let run = outbox.run()
        await clock.waitForTimers(4)
        clock.advance(by: .seconds(1))
        #expect(try await other.value == .seconds(5))
        backend.answer(201)
        clock.advance(by: .seconds(5))
        await until { transport.requestCount == 2 }
        await clock.waitForTimers(1, in: .seconds(1))  // The response is pending.
        clock.advance(by: .seconds(1))
        await until { outbox.entries.isEmpty }

        #expect(backend.keys == ["key 1"])
        run.stop()
    }

    @Test func `a running outbox sends when a write is stored, after a pause, and when the network returns`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        let clock = ManualClock()
        let network = ManualReachability(.notReachable)
        let (outbox, transport) = try outbox(backend, clock: clock)
        let run = outbox.run(following: network)
        try outbox.store(write(1))
        #expect(transport.requestCount == 0)

        network.status = .reachable(.local)
        await until { outbox.entries.isEmpty }
        #expect(backend.keys == ["key 1"])

        backend.answer(503)
        try outbox.store(write(2))
        await clock.waitForTimers(1, in: .seconds(5))
        backend.answer(201)
        clock.advance(by: .seconds(5))
        await until { outbox.entries.isEmpty }

        #expect(backend.keys == ["key 1", "key 2"])
        run.stop()
    }

    @Test func `a stored write that the server rejects permanently is dropped`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        backend.answer(422)
        let (outbox, _) = try outbox(backend)
        var events = outbox.events().makeAsyncIterator()
        try outbox.store(write(1))
        try await outbox.flush()

        #expect(outbox.entries == [])
        guard case .stored = await events.next(), case .rejected(let entry, let answer) = await events.next() else {
            Issue.record("expected stored and rejected")
            return
        }
        #expect(entry.idempotencyKey == "key 1")
        #expect(answer.status == 422)
    }

    @Test func `the pause of the outbox doubles up to a maximum and respects Retry-After`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        backend.answer(nil)
        let (outbox, _) = try outbox(backend)
        try outbox.store(write(1))

        var pauses: [Duration?] = []
        for _ in 0..<8 { pauses.append(try await outbox.flush()) }

        #expect(pauses == [5, 10, 20, 40, 80, 160, 320, 320].map { Duration.seconds($0) })
    }

    @Test func `doubling a very long pause of the outbox does not overflow`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        backend.answer(nil)
        var options = Outbox.Options()
        options.pause = .seconds(Int64.max)
        let (outbox, _) = try outbox(backend, options)
        try outbox.store(write(1))

        for _ in 0..<8 { #expect(try await outbox.flush() ?? .zero >= .seconds(31_536_000)) }
    }

    @Test func `a full outbox rejects writes, and a write above the maximum age expires`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        backend.answer(503)
        let clock = ManualClock()
        let options = Outbox.Options(maximumCount: 2, maximumAge: .seconds(60))
        let (outbox, _) = try outbox(backend, options, clock: clock)
        try outbox.store(write(1))
        clock.advance(by: .seconds(50))
        try outbox.store(write(2))
        #expect(throws: OutboxError.full(limit: 2)) { try outbox.store(write(3)) }

        clock.advance(by: .seconds(20))
        try await outbox.flush()

        #expect(outbox.entries.map(\.idempotencyKey) == ["key 2"])
    }

    @Test func `the error for a write that an outbox cannot store has the reason`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, _) = try outbox(Backend())
        var secret = write(1)
        secret.headers["Authorization"] = "Bearer x"
        var streamed = write(2)
        streamed.body = .file(URL(fileURLWithPath: "/etc/hosts"), contentType: "text/plain")
        var built = write(3)
        built.prebuiltRequest = HTTPRequest(method: .put, url: try #require(RequestURL("https://example.com/other")))

        #expect(throws: OutboxError.holdsCredentials(header: "Authorization")) { try outbox.store(secret) }
        #expect(throws: OutboxError.unstorableBody) { try outbox.store(streamed) }
        #expect(throws: OutboxError.unstorableRequest) { try outbox.store(built) }
        #expect(outbox.entries == [])
    }

    @Test func `the query of a path with a fragment is stored before the fragment`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox(Backend())
        try outbox.store(APIConfiguration(path: "topics#last", method: .put, query: ["a": "1"]))

        try await outbox.flush()

        #expect(transport.requests.first?.url.text.contains("/v1/topics?a=1") == true)
    }

    @Test func `an outbox sends query, parameters, header fields and body of a write as they were stored`() async throws
    {
        defer { try? FileManager.default.removeItem(at: file) }
        let (outbox, transport) = try outbox(Backend())
        var write = APIConfiguration(path: "topics", method: .put, query: ["a": "x y"], headers: ["X-Trace": "7"])
        write.parameters = ["b": [1, 2]]
        try outbox.store(write)

        try await outbox.flush()

        let request = try #require(transport.requests.first)
        #expect(request.url.text.hasSuffix("/v1/topics?a=x%20y") || request.url.text.hasSuffix("/v1/topics?a=x+y"))
        #expect(request.headers["X-Trace"] == "7")
        guard case .data(let body) = request.body else {
            Issue.record("expected a body")
            return
        }
        #expect(String(decoding: body, as: UTF8.self).contains("b"))
        #expect(request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
    }

    @Test func `a stored write is removed only once and sent only once, even by concurrent flushes`() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let backend = Backend()
        let (outbox, _) = try outbox(backend)
        let entry = try outbox.store(write(1))
        let removals = [try outbox.remove(entry.id), try outbox.remove(entry.id)]
        #expect(removals == [true, false])
        for number in 2...20 { try outbox.store(write(number)) }

        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try? await outbox.flush() } }
        }
        try await outbox.flush()

        #expect(backend.keys == (2...20).map { "key \($0)" })
    }
}
