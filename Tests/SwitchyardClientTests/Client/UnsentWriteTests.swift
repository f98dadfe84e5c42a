import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// Writes that are cancelled while a redirected request has not been sent yet.
@Suite(.timeLimit(.minutes(5)), .prompt) struct UnsentWriteTests {
    private func failure(afterHops hops: Int) async throws -> RequestFailure {
        let transport = UnsentHopTransport(hops: hops)
        let clock = ManualClock()
        let client = try NetworkClient(
            service: .topics(switching: .off, servers: 1),
            transport: transport,
            time: clock
        )
        let write = APIConfiguration(path: "pay", method: .post, body: .text("pay"))
        let result = Task { await client.result(of: write) }
        #expect(await transport.waitForUnsent())
        // The request sets its timer after it has stored the exchange's handle, which it needs to withdraw the
        // exchange. The redirects arrive while the first exchange is being started, so their handles are stored before
        // that one.
        #expect(await clock.waitForTimers(1))
        client.cancelAll()
        guard case .failure(let failure) = await result.value else { throw CancellationError() }
        return failure
    }

    @Test func `a write whose only request was never sent has not been executed`() async throws {
        let failure = try await failure(afterHops: 0)

        #expect(failure.reason == .cancelled)
        #expect(!failure.mayHaveBeenExecuted)
    }

    @Test(arguments: [1, 2])
    func `a redirected write may have been executed even if the request to the target was never sent`(
        hops: Int
    ) async throws {
        let failure = try await failure(afterHops: hops)

        #expect(failure.reason == .cancelled)
        #expect(failure.mayHaveBeenExecuted)
    }

    @Test func `a redirected write whose next server takes no connection may have been executed`() async throws {
        let (server, unreached) = (LoopbackServer(), LoopbackServer())
        try unreached.start()
        unreached.fault = .blackHole
        let headers: HTTPHeaders = ["Location": "\(unreached.baseURL)/"]
        server.route(.post, "/pay", answering: LoopbackResponse(status: 307, headers: headers))
        server.route(.get, "/", answering: .text("here"))
        try server.start()
        defer { for server in [server, unreached] { server.stop() } }
        let client = try NetworkClient(service: .loopback([server], switching: .off))
        defer { client.shutdown() }
        let hop = Latch()
        var write = APIConfiguration(path: "pay", method: .post, body: .text("pay"))
        write.interceptors = [
            .observing { event in
                if case .attemptSent(let attempt) = event.kind, attempt.request.url.path == "/" { hop.open() }
            }
        ]
        let result = Task { [write] in await client.result(of: write) }
        await hop.wait()
        // The transport delivers one response after another, so the handle of the second request is held by then.
        _ = try await client.send(APIConfiguration())

        client.cancelAll()

        guard case .failure(let failure) = await result.value else { throw CancellationError() }
        #expect(failure.context.redirects.count == 1)
        #expect(failure.mayHaveBeenExecuted)
    }
}

/// Responds to some requests with 303 and then holds one that it has not sent.
private final class UnsentHopTransport: Transport {
    typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

    private let hopsLeft: Locked<Int>
    private let unsent = AsyncStream.makeStream(of: Void.self)

    init(hops: Int) {
        hopsLeft = Locked(hops)
    }

    func waitForUnsent() async -> Bool {
        for await _ in unsent.stream { return true }
        return false
    }

    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping Completion
    ) -> any TransportTask {
        let left = hopsLeft.withLock { left in
            defer { left -= 1 }
            return left
        }
        let task = UnsentTask(completion)
        if left > 0 {
            let headers: HTTPHeaders = ["Location": "/hop\(left)"]
            task.end(.success(HTTPResponse(status: 303, headers: headers)))
        } else {
            unsent.continuation.yield()
        }
        return task
    }

    func shutdown() {}
}

private final class UnsentTask: TransportTask {
    private let completion: Locked<UnsentHopTransport.Completion?>

    init(_ completion: @escaping UnsentHopTransport.Completion) {
        self.completion = Locked(completion)
    }

    func end(_ result: Result<HTTPResponse, TransportError>) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        completion?(result)
    }

    func cancel() {
        end(.failure(TransportError(.cancelled, message: "cancelled", mayHaveBeenSent: false)))
    }

    func withdraw() -> Bool {
        cancel()
        return true
    }
}
