import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A paused server is not dead: it later executes the requests that it has read.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LateExecutionTests {
    private static let writes = [HTTPMethod.put, .delete, .post, .patch]

    private static func write(
        _ method: HTTPMethod,
        _ text: String,
        _ headers: HTTPHeaders = [:],
        timeout: Duration = .seconds(1)
    ) -> APIConfiguration {
        let body: RequestBody = method == .delete ? .none : .text(text)
        return APIConfiguration(path: "items/a", method: method, body: body, headers: headers, timeout: timeout)
    }

    // MARK: A paused server

    @Test(arguments: writes)
    func `a write that a paused server has read is not sent to another server`(method: HTTPMethod) async throws {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].fault = .pause

        let failure = try #require(
            await backend.client.result(of: Self.write(method, "old", timeout: .seconds(2))).failed
        )
        let atOthers = backend.servers[1].requests.filter { $0.method == method }
        await backend.wakeUp()

        #expect(failure.mayHaveBeenExecuted)
        #expect(atOthers.isEmpty)
        #expect(backend.executed.count == 1)
    }

    @Test(arguments: [HTTPMethod.put, .delete, .post, .patch])
    func `a write with an idempotency key is sent to the next server`(method: HTTPMethod) async throws {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].fault = .pause
        var write = Self.write(method, "old", timeout: .seconds(10))
        write.idempotencyKey = .automatic

        let answer = try await backend.client.send(write)

        #expect(answer.context.server == "secondary")
        #expect(answer.context.mayHaveBeenExecuted)
    }

    /// Sequences of writes in which a late copy of the first would undo the second.
    ///
    /// Each write is sent while the first server is paused.
    @Test(arguments: [
        [write(.put, "old"), write(.put, "new")],
        [write(.delete, ""), write(.put, "new")],
        [write(.put, "old", ["If-None-Match": "*"]), write(.delete, "")],
        [write(.put, "old", ["If-Match": "\"first\""]), write(.put, "new"), write(.put, "first")],
        [write(.put, "1"), write(.put, "2"), write(.put, "3")],
    ])
    func `a late copy of a write does not undo a write that was reported as done`(story: [APIConfiguration])
        async throws
    {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].fault = .pause

        var open = 0
        for write in story {
            let result = await backend.client.result(of: write)
            if result.failed?.mayHaveBeenExecuted == true { open += 1 }
        }
        let copies = backend.servers[0].requests.count { !$0.method.isSafe }
        await backend.wakeUp()

        // The paused server has received exactly the writes that were reported as possibly executed.
        #expect(copies == open)
        #expect(backend.executed.count == story.count)
    }

    @Test func `later writes go to a healthy server after the first timeouts`() async throws {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].fault = .pause

        var servers: [String?] = []
        for number in 1...6 {
            let result = await backend.client.result(of: Self.write(.put, "\(number)", timeout: .seconds(3)))
            servers.append(result.failed == nil ? "secondary" : nil)
        }

        #expect(servers.suffix(4) == ["secondary", "secondary", "secondary", "secondary"])
    }

    @Test(arguments: writes)
    func `a write is sent to the next server if the first server refuses connections`(method: HTTPMethod) async throws {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].fault = .refuse

        let answer = try await backend.client.send(Self.write(method, "new", timeout: .seconds(10)))

        #expect(answer.context.server == "secondary")
        #expect(!answer.context.mayHaveBeenExecuted)
    }

    // MARK: A lost connection

    @Test(arguments: writes)
    func `a write whose kept-alive connection is lost is sent once and does not fail over`(
        method: HTTPMethod
    ) async throws {
        let backend = try Backend(switching: .off, servers: 1)
        defer { backend.stop() }
        _ = try await backend.client.send(APIConfiguration(path: "items/a"))
        backend.servers[0].setFault(.resetBeforeHead, on: LoopbackRoute(method, "/items/*"))

        let failure = try #require(await backend.client.result(of: Self.write(method, "pay")).failed)

        #expect(failure.mayHaveBeenExecuted)
        #if os(Linux)
            #expect(backend.servers[0].requests.count { $0.method == method } == 1)
        #endif
    }

    @Test(arguments: [HTTPMethod.put, .delete])
    func `a write that was sent before a reset is not sent to the next server`(method: HTTPMethod)
        async throws
    {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].setFault(.resetBeforeHead, on: LoopbackRoute(method, "/items/*"))

        let failure = try #require(await backend.client.result(of: Self.write(method, "old")).failed)

        #expect(failure.mayHaveBeenExecuted)
        #expect(backend.servers[1].requests.allSatisfy { $0.method.isSafe })
    }
}

/// Servers that share one database.
private struct Backend {
    let servers: [LoopbackServer]
    let client: NetworkClient
    private let store = Locked<(values: [String: String], executed: [String])>((["/items/a": "first"], []))

    init(switching: SwitchPolicy = .recommended, servers count: Int = 2) throws {
        servers = (0..<count).map { _ in LoopbackServer() }
        for server in servers {
            server.route(nil, "/items/*") { [store] request in
                let body = String(decoding: try await request.body.collect(), as: UTF8.self)
                return store.withLock { Self.response(to: request, body, &$0.values, &$0.executed) }
            }
            server.route(.get, "/", answering: .text("here"))
            try server.start()
        }
        client = try NetworkClient(service: .loopback(servers, switching: switching))
    }

    /// The executed writes in order, including writes whose precondition failed.
    var executed: [String] { store.withLock { $0.executed } }

    /// Resumes the first server and waits until it has executed everything that it had read.
    func wakeUp() async {
        servers[0].fault = nil
        await servers[0].waitUntilIdle()
    }

    func stop() {
        client.shutdown()
        for server in servers { server.stop() }
    }

    private static func response(
        to request: LoopbackRequest,
        _ body: String,
        _ values: inout [String: String],
        _ executed: inout [String]
    ) -> LoopbackResponse {
        guard !request.method.isSafe else { return .text(values[request.path] ?? "", status: 200) }
        executed.append("\(request.method) \(body)")
        if request.headers["If-None-Match"] == "*", values[request.path] != nil { return .text("", status: 412) }
        if let tag = request.headers["If-Match"], tag != "\"\(values[request.path] ?? "")\"" {
            return .text("", status: 412)
        }
        values[request.path] = request.method == .delete ? nil : body
        return .text("done")
    }
}

extension Result where Failure == RequestFailure {
    /// The failure, or `nil` if there is none.
    fileprivate var failed: RequestFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
