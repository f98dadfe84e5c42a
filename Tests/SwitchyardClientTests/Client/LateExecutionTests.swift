import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A server that is silent is not dead: it executes later what it has read.
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
    func `a write that a paused server has read is at no other server`(method: HTTPMethod) async throws {
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
    func `a write with an idempotency key moves on`(method: HTTPMethod) async throws {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].fault = .pause
        var write = Self.write(method, "old", timeout: .seconds(10))
        write.idempotencyKey = .automatic

        let answer = try await backend.client.send(write)

        #expect(answer.context.server == "secondary")
        #expect(answer.context.mayHaveBeenExecuted)
    }

    /// Stories in which an old copy would undo what came after it; each write is sent while the first server is paused.
    @Test(arguments: [
        [write(.put, "old"), write(.put, "new")],
        [write(.delete, ""), write(.put, "new")],
        [write(.put, "old", ["If-None-Match": "*"]), write(.delete, "")],
        [write(.put, "old", ["If-Match": "\"first\""]), write(.put, "new"), write(.put, "first")],
        [write(.put, "1"), write(.put, "2"), write(.put, "3")],
    ])
    func `no call that was reported as done is undone by a late copy`(story: [APIConfiguration]) async throws {
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

        // What the paused server has got is just what the app was told may be executed.
        #expect(copies == open)
        #expect(backend.executed.count == story.count)
    }

    @Test func `the servers that are well get the writes after the first silent ones`() async throws {
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
    func `a write moves on from a server that refuses connections`(method: HTTPMethod) async throws {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].fault = .refuse

        let answer = try await backend.client.send(Self.write(method, "new", timeout: .seconds(10)))

        #expect(answer.context.server == "secondary")
        #expect(!answer.context.mayHaveBeenExecuted)
    }

    // MARK: A lost connection

    @Test(arguments: writes)
    func `a write is sent once on a kept connection that is lost under it, without any switching`(
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
    func `a reset after sending keeps a write from the next server`(method: HTTPMethod) async throws {
        let backend = try Backend()
        defer { backend.stop() }
        backend.servers[0].setFault(.resetBeforeHead, on: LoopbackRoute(method, "/items/*"))

        let failure = try #require(await backend.client.result(of: Self.write(method, "old")).failed)

        #expect(failure.mayHaveBeenExecuted)
        #expect(backend.servers[1].requests.allSatisfy { $0.method.isSafe })
    }
}

/// Servers with one data base.
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

    /// The writes that were executed, in order, also those that met a precondition that did not hold.
    var executed: [String] { store.withLock { $0.executed } }

    /// Lets the first server continue, and waits until it has done all that it had read.
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
    /// The failure; `nil` when there is none.
    fileprivate var failed: RequestFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
