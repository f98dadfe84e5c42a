import Dispatch
import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

///
/// The library generates the request identifiers and calls back outside every lock.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ActiveRequestTests {
    private func client() throws -> (NetworkClient, StubTransport) {
        try NetworkClient.stubbed(switching: .off) { _ in .never }
    }

    private func start(_ configurations: [APIConfiguration], _ client: NetworkClient) -> [RequestID] {
        configurations.map { client.send($0, on: .global()) { _ in } }
    }

    private func tagged(_ path: String, _ tags: Set<String>) -> APIConfiguration {
        var configuration = APIConfiguration(path: path)
        configuration.tags = tags
        return configuration
    }

    @Test func `a tag or a predicate cancels the matching requests only`() async throws {
        let (client, transport) = try client()
        let ids = start([tagged("a", ["images"]), tagged("b", ["images", "big"]), tagged("c", [])], client)
        #expect(await transport.waitForRequests(3))

        #expect(client.cancel(tag: "big") == [ids[1]])
        #expect(client.activeRequests == [ids[0], ids[2]])
        #expect(client.cancel { $0.configuration.path == "c" } == [ids[2]])
        #expect(client.activeRequests == [ids[0]])
        client.cancelAll()
    }

    @Test func `a scope cancels only its own requests by tag, and the client also cancels the requests of its scopes`()
        async throws
    {
        let (client, transport) = try client()
        let scope = client.scoped()
        _ = start([tagged("a", ["x"])], client)
        let own = start([tagged("b", ["x"])], scope)
        #expect(await transport.waitForRequests(2))

        #expect(scope.cancel(tag: "x") == own)
        #expect(client.activeRequests.count == 1)
        #expect(client.cancel { _ in true }.count == 1)
        #expect(client.activeRequests == [])
    }

    @Test func `a cancelled request has left the list of active requests when cancel returns`()
        async throws
    {
        let (client, transport) = try client()
        let ended = Locked(false)
        let id = client.send(APIConfiguration(path: "a"), on: .global()) { _ in ended.withLock { $0 = true } }
        #expect(await transport.waitForRequests(1))

        client.cancel(id)

        #expect(client.activeRequests == [])
        #expect(!client.isLoading)
        await until { ended.withLock { $0 } }
    }

    @Test func `activeRequests lists the requests of one kind`() async throws {
        let (client, transport) = try client()
        var upload = APIConfiguration(path: "up", method: .post)
        upload.body = .multipart(MultipartForm(parts: [.field("a", "b")]))
        var download = APIConfiguration(path: "down")
        download.delivery = .stream
        let ids = start([APIConfiguration(path: "a"), upload, download], client)
        #expect(await transport.waitForRequests(3))

        #expect(client.activeRequests(of: .data).map(\.id) == [ids[0]])
        #expect(client.activeRequests(of: .upload).map(\.id) == [ids[1]])
        #expect(client.activeRequests(of: .download).map(\.id) == [ids[2]])
        client.cancelAll()
    }

    @Test func `a download stays listed until its last byte and is cancelled by its tag`() async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .chunks([Data("a".utf8), Data("b".utf8)], every: .seconds(1), on: clock)
        }
        let received = Locked<Int64>(0)
        let id = RequestID()
        let configuration = DownloadConfiguration(tagged("film", ["images"]))
        let download = Task { () -> Bool in
            do throws(DownloadFailure) {
                _ = try await client.download(configuration, id: id) { report in
                    received.withLock { $0 = max($0, report.completed) }
                }
                return false
            } catch {
                return error.isCancellation
            }
        }
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))
        await until { received.withLock { $0 } == 1 }

        #expect(client.activeRequests(of: .download).map(\.id) == [id])
        var seen: [String] = []
        client.forEachActiveRequest { seen.append($0.configuration.path) }
        #expect(seen == ["film"])
        try #require(client.cancel(tag: "images") == [id])

        #expect(await download.value)
        #expect(client.activeRequests == [])
    }

    @Test func `a predicate cancels a stream while its body is read`() async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .chunks([Data("a".utf8)], every: .seconds(60), on: clock)
        }
        let id = RequestID()
        let answer = try await client.stream(tagged("live", []), id: id)

        try #require(client.cancel { $0.configuration.path == "live" } == [id])

        await #expect(throws: RequestFailure.self) { for try await _ in answer.bytes {} }
    }

    @Test func `forEachActiveRequest calls its closure with every active request`() async throws {
        let (client, transport) = try client()
        let ids = start([APIConfiguration(path: "a"), APIConfiguration(path: "b")], client)
        #expect(await transport.waitForRequests(2))
        var seen: [RequestID] = []

        client.forEachActiveRequest { seen.append($0.id) }

        #expect(seen == ids)
        client.cancelAll()
    }

    @Test func `the client reports that it is loading while a request is active`() async throws {
        let (client, transport) = try client()
        #expect(!client.isLoading)
        let id = client.send(APIConfiguration(path: "a"), on: .global()) { _ in }
        #expect(await transport.waitForRequests(1))
        #expect(client.isLoading)

        client.cancel(id)

        #expect(!client.isLoading)
    }

    @Test func `the client becomes idle after every completion handler was handed to its queue`() async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .delayed(by: .seconds(1), on: clock, .status(200))
        }
        let queue = DispatchQueue(label: "test.barrier")
        let told = Locked(0)
        for _ in 0..<10 {
            client.send(APIConfiguration(path: "a"), on: queue) { _ in told.withLock { $0 += 1 } }
        }
        await clock.waitForTimers(10, in: .seconds(1))
        let count = Task {
            await client.waitUntilIdle()
            // Runs after every completion that was enqueued before.
            return await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: told.withLock { $0 }) }
            }
        }
        await until { client.core.state.withLock { !$0.table.waiters.isEmpty } }

        clock.advance(by: .seconds(1))

        #expect(await count.value == 10)
    }

    @Test func `waitUntilIdle returns after every completion handler has run`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .delayed(by: .seconds(1), on: clock, .status(200))
        }
        let told = Locked(0)
        let tasks = (0..<10).map { _ in
            Task {
                _ = try? await client.send(APIConfiguration(path: "a"))
                told.withLock { $0 += 1 }
            }
        }
        await clock.waitForTimers(10, in: .seconds(1))
        #expect(transport.requestCount == 10)
        let idle = Task { await client.waitUntilIdle() }

        clock.advance(by: .seconds(1))

        #expect(await idle.value)
        #expect(!client.isLoading)
        for task in tasks { await task.value }
        #expect(await client.waitUntilIdle())
    }

    @Test func `waitUntilIdle returns false when its task is cancelled`() async throws {
        let (client, transport) = try client()
        _ = start([APIConfiguration(path: "a")], client)
        #expect(await transport.waitForRequests(1))
        let idle = Task { await client.waitUntilIdle() }

        idle.cancel()

        #expect(await idle.value == false)
        client.cancelAll()
    }

    @Test func `a reset cancels all requests and clears the servers' health`() async throws {
        let (client, transport) = try client()
        _ = start([APIConfiguration(path: "a")], client)
        #expect(await transport.waitForRequests(1))
        try client.switchServer(to: "secondary")

        try client.reset()

        #expect(client.activeRequests == [])
        #expect(client.currentServer == "primary")
        #expect(await client.failure(of: .path("b", timeout: .zero)) == .deadlineExceeded)
    }

    @Test(arguments: [(0, 0, 1.0), (5, 10, 0.5), (20, 10, 1.0), (5, nil, nil)] as [(Int64, Int64?, Double?)])
    func `the fraction of a progress is between 0 and 1, or nil if the total is unknown`(
        done: Int64,
        total: Int64?,
        fraction: Double?
    ) {
        #expect(TransferProgress(direction: .upload, completed: done, total: total).fraction == fraction)
    }

    @Test func `an app can inspect the response head and then drop the body`() async throws {
        let server = LoopbackServer()
        try server.start()
        defer { server.stop() }
        server.route(.get, "/large", answering: .data(Data(count: 8 << 20)))
        let client = try NetworkClient(service: try .loopback([server]))
        var configuration = APIConfiguration(path: "large")
        configuration.delivery = .stream

        var answer: ServiceResponse? = try await client.send(configuration)
        #expect(answer?.status == 200)
        #expect(answer?.headers["Content-Length"] == "\(8 << 20)")
        answer = nil

        #expect(await client.waitUntilIdle())
        client.shutdown()
    }

    @Test func `a stubbed response is returned without asking a server`() async throws {
        let (client, transport) = try client()
        var configuration = APIConfiguration(path: "a")
        configuration.stubResponse = HTTPResponse(status: 200, headers: [:], body: .whole(Data("local".utf8)))

        let answer = try await client.send(configuration)

        #expect(answer.text == "local")
        #expect(answer.context.attempts == 0)
        #expect(transport.requestCount == 0)
    }

    @Test func `a prebuiltRequest with a file as its body counts as an upload`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        var configuration = APIConfiguration()
        let url = try RequestURL(validating: "http://primary.test/v1/x")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        try Data("x".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        configuration.prebuiltRequest = HTTPRequest(method: .put, url: url, body: .file(file))
        let task = Task { [configuration] in await client.failure(of: configuration) }
        #expect(await transport.waitForRequests(1))

        #expect(client.activeRequests(of: .upload).count == 1)

        client.cancelAll()
        #expect(await task.value == .cancelled)
    }
}
