import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A write without a response reports whether it may have been executed, however it ended.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ExecutedWriteTests {
    private static let write = APIConfiguration(path: "pay", method: .post, timeout: .seconds(60))

    private func failure(
        of configuration: APIConfiguration = write,
        answers: [StubResponse],
        options: (inout NetworkClient.Options) -> Void = { _ in }
    ) async throws -> RequestFailure {
        let list = AnswerList(answers)
        let (client, _) = try NetworkClient.stubbed(options: options) { list.answer($0) }
        return try #require(await client.result(of: configuration).failed)
    }

    /// The failure of a write that the server receives but does not respond to.
    private func failure(
        of configuration: APIConfiguration = write,
        endedBy end: (NetworkClient, ManualClock) -> Void
    ) async throws -> RequestFailure {
        let time = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, servers: 1, time: time) { _ in .never }
        let result = Task { await client.result(of: configuration) }
        #expect(await transport.waitForRequests(1))
        #expect(await time.waitForTimers(1))
        end(client, time)
        return try #require(await result.value.failed)
    }

    // MARK: One attempt

    @Test(arguments: TransportError.Kind.allCases)
    func `a transport error's mayHaveBeenSent determines mayHaveBeenExecuted`(kind: TransportError.Kind) async throws {
        for isOpen in [true, false] {
            let error = TransportError(kind, message: "stubbed", mayHaveBeenSent: isOpen)
            let failure = try await failure(answers: [.failure(error)])

            #expect(failure.mayHaveBeenExecuted == isOpen)
            #expect(failure.description.hasSuffix(", may have been executed") == isOpen)
        }
    }

    @Test func `a write may have been executed after a deadline, a cancel or a shutdown`() async throws {
        let late = try await failure { _, time in time.advance(by: .seconds(60)) }
        let cancelled = try await failure { client, _ in client.cancelAll() }
        let closed = try await failure { client, _ in client.shutdown() }

        #expect([late, cancelled, closed].map(\.reason) == [.deadlineExceeded, .cancelled, .closed])
        #expect([late, cancelled, closed].map(\.mayHaveBeenExecuted) == [true, true, true])
    }

    @Test func `a failed read counts as possibly executed only if mayBeRepeated is false`() async throws {
        let read = APIConfiguration(path: "list", timeout: .seconds(60))
        var search = read
        search.mayBeRepeated = false

        let late = try await failure(of: read) { _, time in time.advance(by: .seconds(60)) }
        let reset = try await failure(of: read, answers: [.failure(.connectionReset)])
        let once = try await failure(of: search, answers: [.failure(.connectionReset)])

        #expect(!late.mayHaveBeenExecuted && !reset.mayHaveBeenExecuted)
        #expect(once.mayHaveBeenExecuted)
    }

    @Test func `a write that was never sent is reported as not executed`() async throws {
        let wrong = APIConfiguration(path: "http://[", method: .post)
        let veto = RequestInterceptor.adapting("veto") { _, _ in throw CancellationError() }

        let unsendable = try await failure(of: wrong, answers: [.status(200)])
        let vetoed = try await failure(answers: [.status(200)]) { $0.interceptors = [veto] }

        #expect(!unsendable.mayHaveBeenExecuted)
        #expect(!vetoed.mayHaveBeenExecuted)
    }

    @Test func `a write may have been executed after a 408 or 5xx, but not after another 4xx`() async throws {
        for (status, isOpen) in [
            (201, false), (404, false), (429, false), (408, true), (500, true), (503, true), (504, true),
        ] {
            let (client, _) = try NetworkClient.stubbed(servers: 1) { _ in .status(status) }

            let answer = try await client.send(Self.write)

            #expect(answer.context.mayHaveBeenExecuted == isOpen, "\(status)")
        }
    }

    @Test func `a write may have been executed even if its redirect cannot be followed`() async throws {
        let away = StubResponse.status(303, headers: ["Location": "/v1/result"])

        let refused = try await failure(answers: [away, .failure(.connectionRefused)])
        let endless = try await failure(answers: [.status(307, headers: ["Location": "/v1/pay"])])

        #expect(refused.mayHaveBeenExecuted)
        #expect(endless.mayHaveBeenExecuted)
    }

    @Test func `a write may have been executed even if the target of its 301, 302 or 303 responds with 404`()
        async throws
    {
        for (redirect, isOpen) in [(301, true), (302, true), (303, true), (307, false), (308, false)] {
            let list = AnswerList([.status(redirect, headers: ["Location": "/v1/result"]), .status(404)])
            let (client, _) = try NetworkClient.stubbed(servers: 1) { list.answer($0) }

            let answer = try await client.send(Self.write)

            #expect(answer.status == 404)
            #expect(answer.context.mayHaveBeenExecuted == isOpen, "\(redirect)")
        }
    }

    @Test func `a write may have been executed even if an interceptor rejects its successful response`() async throws {
        let veto = RequestInterceptor.retrying("veto") { _ in .fail(SampleError()) }
        let (entered, entrance) = AsyncStream.makeStream(of: Void.self)
        let endless = RequestInterceptor.retrying("endless") { _ in
            entrance.yield()
            try await Task.sleep(for: .seconds(3600))
            return .undecided
        }
        var search = APIConfiguration(path: "search", timeout: .seconds(60))
        search.mayBeRepeated = false
        for (write, interceptor, isLate) in [(Self.write, veto, false), (search, veto, false), (search, endless, true)]
        {
            let clock = ManualClock()
            let (client, _) = try NetworkClient.stubbed(time: clock, options: { $0.interceptors = [interceptor] }) {
                _ in
                .status(201)
            }

            let result = Task { await client.result(of: write) }
            if isLate {
                for await _ in entered { break }
                clock.advance(by: .seconds(60))
            }
            let failure = try #require(await result.value.failed)

            #expect(failure.mayHaveBeenExecuted)
            client.shutdown()
        }
        let (reading, _) = try NetworkClient.stubbed {
            $0.interceptors = [veto]
        } answer: { _ in
            .status(200)
        }
        let read = try #require(await reading.result(of: APIConfiguration(path: "list")).failed)
        #expect(!read.mayHaveBeenExecuted)
    }

    @Test func `a write that got a 401 counts as not executed even if an interceptor rejects the response`()
        async throws
    {
        let veto = RequestInterceptor.retrying("veto") { round in
            round.status == 401 ? .fail(SampleError()) : .undecided
        }

        let failure = try await failure(answers: [.status(401)]) { $0.interceptors = [veto] }

        #expect(!failure.mayHaveBeenExecuted)
    }

    // MARK: Several attempts

    @Test func `a write is reported as possibly executed if only its first attempt may have been sent`() async throws {
        var put = APIConfiguration(path: "topics/7", method: .put, timeout: .seconds(60))
        put.idempotencyKey = .automatic
        put.retry = RetryPolicy(maximumRetries: 1, backoff: .constant(.zero))

        let refused = try await failure(of: put, answers: [.failure(.connectionReset), .failure(.connectionRefused)])
        let unsent = try await failure(of: put, answers: [.failure(.dnsFailure), .failure(.connectionRefused)])

        #expect(refused.context.rounds == 2 && refused.mayHaveBeenExecuted)
        #expect(unsent.context.rounds == 2 && !unsent.mayHaveBeenExecuted)
    }

    @Test func `a write that got a 503 may have been executed even if an interceptor then cancels the write`()
        async throws
    {
        let veto = RequestInterceptor.retrying("veto") { _ in .fail(CancellationError()) }

        let failure = try await failure(answers: [.status(503)]) { $0.interceptors = [veto] }

        #expect(failure.mayHaveBeenExecuted)
    }

    @Test func `a write that got a 421 is reported as not executed`() async throws {
        let list = AnswerList([.status(421), .failure(.connectionRefused)])
        let (client, _) = try NetworkClient.stubbed(servers: 2) { list.answer($0) }

        let answer = try await client.send(Self.write)

        #expect(answer.status == 421)
        #expect(!answer.context.mayHaveBeenExecuted)
    }

    @Test func `a write that was given up before it was sent is safe to repeat`() {
        let context = DispatchContext(service: "topics", environment: .test)
        let place = RequestContext(service: "topics", environment: .test, method: .post)
        func round(_ reason: RequestFailure.Reason) -> RoundResult {
            let failure = RequestFailure(reason, id: RequestID(), context: place)
            return RoundResult(configuration: Self.write, context: context, result: .failure(failure))
        }

        #expect(round(.overloaded).isSafeToRepeat)
        #expect(!round(.transport(TransportError(.timeout, message: ""))).isSafeToRepeat)
        #expect(!round(.redirect(.tooMany(limit: 20))).isSafeToRepeat)
    }
}

/// The same tests over real sockets.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ExecutedWriteSocketTests {
    private static func failure(
        timeout: Duration = .seconds(30),
        _ prepare: (LoopbackServer) -> Void
    ) async throws -> RequestFailure {
        let server = LoopbackServer()
        server.route(.get, "/", answering: .text("here"))
        try server.start()
        defer { server.stop() }
        let client = try NetworkClient(service: .loopback([server], switching: .off))
        defer { client.shutdown() }
        _ = try await client.send(APIConfiguration())  // Leaves a kept connection.
        prepare(server)
        let write = APIConfiguration(path: "pay", method: .post, body: .text("pay"), timeout: timeout)
        return try #require(await client.result(of: write).failed)
    }

    @Test func `a write may have been executed if the server dies after receiving the write`() async throws {
        let failure = try await Self.failure { server in
            server.route(.post, "/pay") { request in
                _ = try await request.body.collect()
                server.fault = .refuse
                throw CancellationError()
            }
        }

        #expect(failure.mayHaveBeenExecuted)
        guard case .transport(let error) = failure.reason else {
            Issue.record("expected a transport error")
            return
        }
        #expect(error.kind == .connectionReset)
    }

    @Test func `a write to a server that was already dead is reported as not executed`() async throws {
        let failure = try await Self.failure { server in
            server.fault = .refuse
            server.closeConnections()
        }

        #expect(failure.description.contains("connectionRefused"))
        #expect(!failure.mayHaveBeenExecuted)
    }

    @Test func `a write that ends at its deadline may have been executed only if the server was connected`()
        async throws
    {
        let isReported = try await isPrompt {
            let held = try await Self.failure(timeout: .milliseconds(300)) { $0.fault = .hang }
            #expect(held.reason == .deadlineExceeded)
            return held.mayHaveBeenExecuted
        }
        let unreached = try await Self.failure(timeout: .milliseconds(300)) { server in
            server.fault = .blackHole
            server.closeConnections()
        }

        #expect(isReported)
        #expect(unreached.reason == .deadlineExceeded)
        #if os(Linux)
            #expect(!unreached.mayHaveBeenExecuted)
        #endif
    }

    // The context of these responses states nothing about the request, like a context that an app has created.
    @Test(arguments: [
        (HTTPMethod.put, 500, true), (.put, 503, false), (.put, 408, false), (.post, 500, false), (.post, 421, true),
        (.get, 503, true),
    ])
    func `a request that got a response is safe to repeat if the status of the response allows it`(
        method: HTTPMethod,
        status: Int,
        isSafe: Bool
    ) {
        #expect(RoundResult.sample(method: method, status: status).isSafeToRepeat == isSafe)
    }
}

extension Result where Failure == RequestFailure {
    /// The failure, or `nil` if there is none.
    fileprivate var failed: RequestFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
