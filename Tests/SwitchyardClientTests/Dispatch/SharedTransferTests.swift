import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt) struct SharedTransferTests {
    static func shared(_ path: String, timeout: Duration? = nil) -> APIConfiguration {
        var configuration = APIConfiguration(path: path, timeout: timeout)
        configuration.sharing = .identical
        return configuration
    }

    /// Starts requests and waits until all of them share a transfer.
    private func join(
        _ client: NetworkClient,
        _ ids: [RequestID],
        timeout: Duration? = nil
    ) async -> [Task<RequestFailure.Reason?, Never>] {
        let tasks = ids.map { id in Task { await client.failure(of: Self.shared("list", timeout: timeout), id: id) } }
        await until { client.core.sharedTransfers.requestCount == ids.count }
        return tasks
    }

    @Test func `identical concurrent requests share one transfer`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .delayed(by: .seconds(1), on: clock, .json("[1]"))
        }
        let ids = (0..<20).map { _ in RequestID() }
        let tasks = ids.map { id in Task { try? await client.send(Self.shared("list"), id: id) } }
        await until { client.core.sharedTransfers.requestCount == 20 }
        #expect(client.activeRequests == ids.sorted())
        await clock.waitForTimers(1, in: .seconds(1))

        clock.advance(by: .seconds(1))

        for (task, id) in zip(tasks, ids) {
            let answer = await task.value
            #expect(answer?.id == id)
            #expect(answer?.text == "[1]")
        }
        #expect(transport.requestCount == 1)
        #expect(client.core.sharedTransfers.count == 0)
        #expect(client.activeRequests == [])
    }

    @Test func `different reads do not share a transfer, and neither do writes`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        var write = Self.shared("list")
        write.method = .post
        var other = Self.shared("list")
        other.headers["Accept"] = "text/plain"
        let tasks = [Self.shared("list"), Self.shared("other"), write, write, other].map { configuration in
            Task { await client.failure(of: configuration) }
        }

        #expect(await transport.waitForRequests(5))

        client.cancelAll()
        for task in tasks { #expect(await task.value == .cancelled) }
    }

    @Test func `a read after a login does not share a transfer from before the login`() async throws {
        let clock = ManualClock()
        let credentials = Credentials { _ in nil }
        let (client, transport) = try NetworkClient.stubbed(time: clock) {
            $0.credentials = credentials
        } answer: { request in
            .delayed(by: .seconds(1), on: clock, .json("\"\(request.headers["Authorization"] ?? "nobody")\""))
        }
        let environment = client.environment
        credentials.set(.bearer("ada"), in: environment)
        let first = Task { try? await client.send(Self.shared("me")) }
        #expect(await transport.waitForRequests(1))
        credentials.logOut(in: environment)
        credentials.set(.bearer("grace"), in: environment)

        let second = Task { try? await client.send(Self.shared("me")) }
        #expect(await transport.waitForRequests(2))
        await clock.waitForTimers(1, in: .seconds(1))
        clock.advance(by: .seconds(1))

        #expect(await first.value == nil)
        #expect(await second.value?.text == "\"Bearer grace\"")
        #expect(client.core.sharedTransfers.count == 0)
    }

    @Test(arguments: [RequestCoalescing.identical, .named("x")])
    func `a read after a write to the same path does not join an earlier read`(sharing: RequestCoalescing) async throws
    {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(time: clock) { _ in
        } answer: { request in
            request.method == .put ? .status(204) : .delayed(by: .seconds(1), on: clock, .status(200))
        }
        var read = APIConfiguration(path: "items/7?full=1")
        read.sharing = sharing
        let first = Task { [read] in try? await client.send(read).status }
        #expect(await transport.waitForRequests(1))

        _ = try await client.send(APIConfiguration(path: "/items/%37", method: .put))
        let second = Task { [read] in try? await client.send(read).status }

        #expect(await transport.waitForRequests(3))
        await clock.waitForTimers(2, in: .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(await (first.value, second.value) == (200, 200))
    }

    @Test func `a read with another cookie does not share the earlier transfer`() async throws {
        let clock = ManualClock()
        let jar = CookieJar()
        let (client, transport) = try NetworkClient.stubbed(time: clock) {
            $0.generator.cookies = jar
        } answer: { request in
            .delayed(by: .seconds(1), on: clock, .json("\"\(request.headers["Cookie"] ?? "none")\""))
        }
        jar.store(Cookie(name: "sid", value: "ada", domain: "primary.test"))
        let first = Task { try? await client.send(Self.shared("me")) }
        #expect(await transport.waitForRequests(1))
        jar.removeAll()
        jar.store(Cookie(name: "sid", value: "grace", domain: "primary.test"))

        let second = Task { try? await client.send(Self.shared("me")) }
        await until { client.core.sharedTransfers.requestCount == 2 }
        await clock.waitForTimers(client.core.sharedTransfers.count, in: .seconds(1))
        clock.advance(by: .seconds(1))

        #expect(await first.value?.text == "\"sid=ada\"")
        #expect(await second.value?.text == "\"sid=grace\"")
    }

    @Test func `a shared transfer continues until its last call is cancelled`() async throws {
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in .never }
        let ids = (0..<3).map { _ in RequestID() }
        let tasks = await join(client, ids)
        #expect(await transport.waitForRequests(1))

        client.cancel(ids[0])
        client.cancel(ids[2])
        #expect(await tasks[0].value == .cancelled)
        #expect(await tasks[2].value == .cancelled)
        #expect(transport.openExchanges == 1)
        client.cancel(ids[1])

        #expect(await tasks[1].value == .cancelled)
        #expect(await transport.waitUntilIdle())
        #expect(transport.requestCount == 1)
    }

    @Test func `after the last call of a shared transfer is cancelled, an equal call starts a new transfer`()
        async throws
    {
        let answers = Locked(0)
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in
            answers.withLock { $0 += 1 }
            return answers.withLock { $0 } == 1 ? .never : .status(200)
        }
        let id = RequestID()
        let first = await join(client, [id])
        #expect(await transport.waitForRequests(1))
        client.cancel(id)
        #expect(await first[0].value == .cancelled)

        #expect(await client.failure(of: Self.shared("list")) == nil)
        #expect(transport.requestCount == 2)
    }

    @Test func `a shared request that cannot be built fails for all its calls`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        for _ in 0..<2 {
            guard case .invalidRequest = await client.failure(of: Self.shared("bad\npath")) else {
                Issue.record("expected invalidRequest")
                return
            }
        }
        #expect(client.core.sharedTransfers.count == 0)
    }

    @Test func `each call keeps its own deadline, and the shared transfer lasts until the latest deadline`()
        async throws
    {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in .never }
        let hasty = await join(client, [RequestID()], timeout: .seconds(1))
        let patient = Task { await client.failure(of: Self.shared("list", timeout: .seconds(9))) }
        await until { client.core.sharedTransfers.requestCount == 2 }
        #expect(await transport.waitForRequests(1))

        clock.advance(by: .seconds(1))
        #expect(await hasty[0].value == .deadlineExceeded)
        #expect(transport.openExchanges == 1)
        clock.advance(by: .seconds(8))

        #expect(await patient.value == .deadlineExceeded)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `the failure of a shared prebuiltRequest names its method`() async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in .never }
        var configuration = Self.shared("list", timeout: .seconds(1))
        configuration.sharing = .named("write")
        let url = try RequestURL(validating: "https://o.example/x")
        configuration.prebuiltRequest = HTTPRequest(method: .post, url: url)
        let result = Task { [configuration] in await client.result(of: configuration) }
        await until { client.core.sharedTransfers.requestCount == 1 }

        clock.advance(by: .seconds(1))

        let failure = await #expect(throws: RequestFailure.self) { try await result.value.get() }
        #expect(failure?.reason == .deadlineExceeded)
        #expect(failure?.context.method == .post)
    }

    @Test func `all calls that share a transfer receive progress`() async throws {
        let clock = ManualClock()
        let (client, _) = try NetworkClient.stubbed(switching: .off, time: clock) { _ in
            .delayed(by: .seconds(1), on: clock, .json("[1]"))
        }
        let reports = Locked<Set<Int>>([])
        let tasks = (0..<2).map { number in
            Task {
                _ = try? await client.send(Self.shared("list")) { _ in reports.withLock { _ = $0.insert(number) } }
            }
        }
        await until { client.core.sharedTransfers.requestCount == 2 }
        await clock.waitForTimers(1, in: .seconds(1))

        clock.advance(by: .seconds(1))
        for task in tasks { await task.value }

        #expect(reports.withLock { $0 } == [0, 1])
    }

    @Test func `2,000 calls, every third cancelled, leave no shared transfer and no active request`() async throws {
        let (client, transport) = try NetworkClient.stubbed(switching: .off) { _ in .status(200) }

        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let task = Task { await client.failure(of: Self.shared("list\(number % 7)")) }
                    if number.isMultiple(of: 3) { task.cancel() }
                    _ = await task.value
                }
            }
        }

        #expect(await transport.waitUntilIdle())
        #expect(client.core.sharedTransfers.count == 0)
        #expect(client.activeRequests == [])
    }

    @Test func `a shutdown ends all calls that share a transfer`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let tasks = await join(client, [RequestID(), RequestID()])
        #expect(await transport.waitForRequests(1))

        client.shutdown()

        for task in tasks { #expect(await task.value == .closed) }
    }

    @Test func `a shared transfer does not retry if the delay exceeds the deadlines of its calls`() async throws {
        let (client, transport) = try NetworkClient.stubbed(options: { $0.retry = .standard }) { _ in
            .status(503, headers: ["Retry-After": "30"])
        }

        let answer = try await client.send(Self.shared("list", timeout: .seconds(5)))

        #expect(answer.status == 503)
        #expect(transport.requestCount == 1)
    }

    @Test func `a shared transfer is retried if a call with a later deadline joined it during the first attempt`()
        async throws
    {
        let clock = ManualClock()
        let answers = AnswerList([
            .delayed(by: .seconds(1), on: clock, .status(503, headers: ["Retry-After": "30"])), .status(200),
        ])
        let (client, transport) = try NetworkClient.stubbed(time: clock) {
            $0.retry = .standard
        } answer: { request in
            answers.answer(request)
        }
        let hasty = await join(client, [RequestID()], timeout: .seconds(5))
        #expect(await transport.waitForRequests(1))
        let patient = Task { try await client.send(Self.shared("list", timeout: .seconds(60))).status }
        await until { client.core.sharedTransfers.requestCount == 2 }
        #expect(await clock.waitForTimers(1, in: .seconds(1)))

        clock.advance(by: .seconds(1))
        #expect(await clock.waitForTimers(1, in: .seconds(30)))
        clock.advance(by: .seconds(30))

        #expect(await hasty[0].value == .deadlineExceeded)
        #expect(try await patient.value == 200)
    }

    @Test func `a slow shared transfer is hedged to a second server`() async throws {
        var policy = SwitchPolicy.recommended
        policy.warmUp = nil
        policy.hedging?.unknown = .seconds(10)
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: policy, time: clock) { request in
            request.server == "primary" ? .never : .status(200)
        }
        let answer = Task { try await client.send(Self.shared("list", timeout: .seconds(2))) }
        #expect(await clock.waitForTimers(2))

        clock.advance(by: .milliseconds(800))

        try #require(transport.requestCount == 2)
        #expect(try await answer.value.context.server == "secondary")
    }

    private enum Reader: ConfigurationKey {
        static let defaultValue = "nobody"
    }

    @Test func `calls with a custom configuration value share no transfer if interceptors can read the value`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.interceptors = [
                .adapting("user") { configuration, _ in configuration.headers["X-User"] = configuration[Reader.self] }
            ]
        }) { _ in .never }
        let tasks = ["ann", "bob"].map { name in
            var configuration = Self.shared("me")
            configuration[Reader.self] = name
            return Task { [configuration] in await client.failure(of: configuration) }
        }

        #expect(await transport.waitForRequests(2))
        #expect(Set(transport.requests.map { $0.headers["X-User"] }) == ["ann", "bob"])
        client.cancelAll()
        for task in tasks { #expect(await task.value == .cancelled) }
    }
}
