import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct RefreshTests {
    /// Sends `count` requests at the same time and counts their results.
    private static func tally(_ client: NetworkClient, _ count: Int) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask {
                    switch await client.result(of: APIConfiguration(path: "x")) {
                    case .success(let answer): "\(answer.status)"
                    case .failure(let failure): "\(failure.reason)"
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    @Test func `if a thousand requests get a 401 at the same time, one refresh makes all of them succeed`() async throws
    {
        let gate = TokenGate(good: "a1")
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { gate.answer($0) }

        let ends = await Self.tally(client, 1_000)

        #expect(ends == ["200": 1_000])
        #expect(gate.refreshes == 1)
        #expect(credentials.version(in: .test) == 2)
    }

    @Test func `requests that are made during a credential refresh wait for it`() async throws {
        let gate = TokenGate()
        let door = Gate()
        let credentials = Credentials { _ in
            await door.pass()
            return gate.refresh()
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { gate.answer($0) }

        let first = Task { await client.result(of: APIConfiguration(path: "x")) }
        await door.waitForArrivals(1)
        let second = Task { await client.result(of: APIConfiguration(path: "y")) }
        door.open()
        _ = await (first.value, second.value)

        #expect(
            gate.shown == ["a0", "a1", "a1"] || gate.shown.sorted { ($0 ?? "") < ($1 ?? "") } == ["a0", "a1", "a1"]
        )
        #expect(gate.refreshes == 1)
    }

    @Test func `a 401 for a credential that was replaced in the meantime repeats the request without a refresh`()
        async throws
    {
        let gate = TokenGate(good: "a1")
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            if request.headers["Authorization"] == "Bearer a0" { credentials.update(.bearer("a1"), in: .test) }
            return gate.answer(request)
        }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.status == 200)
        #expect(answer.context.rounds == 2)
        #expect(gate.refreshes == 0)
    }

    @Test func `the app receives a 401 if the refreshed credential is rejected too`() async throws {
        let gate = TokenGate(good: "other", accepts: false)
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) {
            gate.answer($0)
        }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.status == 401)
        #expect(transport.requestCount == 2)
        #expect(gate.refreshes == 1)
    }

    @Test func `a failed credential refresh fails once for all waiting requests`() async throws {
        let clock = ManualClock()
        let refreshes = Locked(0)
        let credentials = Credentials { _ in
            refreshes.withLock { $0 += 1 }
            throw SampleError()
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(
            time: clock,
            options: { $0.credentials = credentials }
        ) { _ in .delayed(by: .seconds(1), on: clock, .status(401)) }

        // All requests have reached the server before the first one is rejected. Each request has set three timers: the
        // deadline of the call, the deadline of the exchange, and the delay of the stub.
        let ends = Task { await Self.tally(client, 100) }
        await clock.waitForTimers(300)
        clock.advance(by: .seconds(1))

        let failure = RequestFailure.Reason.credentials(
            .refreshFailed(InterceptorError(name: "refresh", underlying: SampleError()))
        )
        #expect(await ends.value == ["\(failure)": 100])
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test func `after a refresh throws loginRequired, requests fail with it until another credential is set`()
        async throws
    {
        let gate = TokenGate(good: "new")
        let refreshes = Locked(0)
        let credentials = Credentials { _ in
            refreshes.withLock { $0 += 1 }
            throw CredentialError.loginRequired
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { gate.answer($0) }

        for _ in 0..<3 {
            #expect(await client.failure(of: APIConfiguration(path: "x")) == .credentials(.loginRequired))
        }
        credentials.set(.bearer("new"), in: .test)

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test func `a login during a refresh lets the waiting request continue`() async throws {
        let gate = TokenGate(good: "new")
        let door = Gate()
        let credentials = Credentials { _ in
            await door.pass()
            return nil
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) {
            gate.answer($0)
        }

        let call = Task { try await client.send(APIConfiguration(path: "x")).status }
        await door.waitForArrivals(1)
        credentials.update(.bearer("new"), in: .test)

        #expect(try await call.value == 200)
        #expect(transport.requestCount == 2)
        door.open()
    }

    @Test func `the event stream reports credential refreshes and their failures`() async throws {
        let gate = TokenGate()
        let credentials = Credentials { _ in
            guard gate.refreshes == 0 else { throw CredentialError.loginRequired }
            return gate.refresh()
        }
        var events = credentials.events().makeAsyncIterator()
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { gate.answer($0) }

        _ = try await client.send(APIConfiguration(path: "x"))
        gate.change(to: "unknown")
        _ = await client.failure(of: APIConfiguration(path: "x"))

        #expect(await events.next()?.kind == .set)
        #expect(await events.next()?.kind == .refreshed)
        #expect(await events.next()?.kind == .failed(.loginRequired))
    }

    @Test func `a refresh may use the same client without a deadlock`() async throws {
        let gate = TokenGate(good: "fresh")
        let holder = Locked<NetworkClient?>(nil)
        let credentials = Credentials { refresh in
            // Neither the passed client nor the app's own client waits or is rejected.
            let clients: [NetworkClient?] = [refresh.client, holder.withLock { $0 }]
            for client in clients.compactMap(\.self) {
                let answer = try await client.send(APIConfiguration(path: "token", method: .post))
                #expect(answer.status == 200)
            }
            return .bearer("fresh")
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            request.url.path.hasSuffix("token") ? .status(200) : gate.answer(request)
        }
        holder.withLock { $0 = client }
        defer { holder.withLock { $0 = nil } }

        let answer = try await client.send(APIConfiguration(path: "x"))

        #expect(answer.status == 200)
        let tokens = transport.requests.filter { $0.url.path.hasSuffix("token") }
        #expect(tokens.map { $0.headers["Authorization"] } == [nil, nil])
    }

    @Test func `a 401 response to the request of a refresh starts no second refresh`() async throws {
        let refreshes = Locked(0)
        let credentials = Credentials { refresh in
            refreshes.withLock { $0 += 1 }
            let answer = try await refresh.client.send(APIConfiguration(path: "token"))
            guard answer.status == 200 else { throw SampleError() }
            return nil
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(401)
        }

        _ = await client.failure(of: APIConfiguration(path: "x"))

        #expect(refreshes.withLock { $0 } == 1)
        #expect(transport.requestCount == 2)
    }

    @Test func `if a refresh hangs, all requests that wait for it time out`() async throws {
        let clock = ManualClock()
        let begun = AsyncStream.makeStream(of: Void.self)
        let credentials = Credentials { _ in
            begun.continuation.yield()
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return nil
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.credentials = credentials
            }
        ) { _ in .status(401) }

        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        for await _ in begun.stream { break }
        await clock.waitForTimers(1, in: .seconds(30))
        clock.advance(by: .seconds(30))

        #expect(await call.value == .credentials(.refreshTimedOut))
    }

    /// A refresh that exceeds its time limit, at a server that accepts each refresh token once.
    private func slowRefresh() async throws -> (client: NetworkClient, clock: ManualClock, gate: TokenGate, door: Gate)
    {
        let (clock, gate, door) = (ManualClock(), TokenGate(), Gate())
        let credentials = Credentials { _ in
            await door.pass()
            return gate.refresh()
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(time: clock, options: { $0.credentials = credentials }) {
            gate.answer($0)
        }
        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        await door.waitForArrivals(1)
        await clock.waitForTimers(1, in: .seconds(30))
        clock.advance(by: .seconds(30))
        #expect(await call.value == .credentials(.refreshTimedOut))
        return (client, clock, gate, door)
    }

    @Test func `the token of a refresh that exceeded its time limit is kept, and no second refresh starts meanwhile`()
        async throws
    {
        let (client, _, gate, door) = try await slowRefresh()

        let later = Task { try await client.send(APIConfiguration(path: "x")).status }
        door.open()

        #expect(try await later.value == 200)
        #expect(gate.refreshes == 1)
        #expect(client.credentials?.credential(in: .test) == .bearer("a1"))
    }

    @Test func `a call that waits for an overdue refresh fails after the time limit of a refresh`() async throws {
        let (client, clock, gate, door) = try await slowRefresh()
        defer { door.open() }

        let later = Task { await client.failure(of: APIConfiguration(path: "x", timeout: .seconds(300))) }
        await clock.waitForTimers(1, in: .seconds(30))
        clock.advance(by: .seconds(30))

        #expect(await later.value == .credentials(.refreshTimedOut))
        #expect(gate.refreshes == 0)
    }

    @Test func `another refresh may start when a refresh has run for ten times its time limit`() async throws {
        let (client, clock, gate, door) = try await slowRefresh()

        clock.advance(by: .seconds(270))
        let later = Task { await client.failure(of: APIConfiguration(path: "x", timeout: .seconds(1))) }
        await door.waitForArrivals(2)
        clock.advance(by: .seconds(1))

        #expect(await later.value == .deadlineExceeded)
        #expect(gate.refreshes == 0)
        door.open()
    }

    @Test func `if the deadline of a request ends its wait for a refresh, the refresh continues for other requests`()
        async throws
    {
        let clock = ManualClock()
        let gate = TokenGate()
        let door = Gate()
        let credentials = Credentials { _ in
            await door.pass()
            return gate.refresh()
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(
            time: clock,
            options: {
                $0.credentials = credentials
            }
        ) { gate.answer($0) }

        let hasty = Task { await client.failure(of: APIConfiguration(path: "x", timeout: .seconds(1))) }
        await door.waitForArrivals(1)
        clock.advance(by: .seconds(1))
        #expect(await hasty.value == .deadlineExceeded)
        door.open()

        #expect(try await client.send(APIConfiguration(path: "x")).status == 200)
        #expect(gate.refreshes == 1)
    }

    @Test func `a logout ends the waiting requests and discards the token of the refresh`() async throws {
        let gate = TokenGate()
        let door = Gate()
        let credentials = Credentials { _ in
            await door.pass()
            return gate.refresh()
        }
        credentials.set(.bearer("a0"), in: .test)
        let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { gate.answer($0) }

        let call = Task { await client.failure(of: APIConfiguration(path: "x")) }
        await door.waitForArrivals(1)
        credentials.logOut(in: .test)
        door.open()

        #expect(await call.value == .credentials(.loggedOut))
        #expect(credentials.credential(in: .test) == nil)
    }

    @Test func `a write that got a 401 is sent again after a refresh`() async throws {
        let gate = TokenGate()
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) {
            gate.answer($0)
        }

        let answer = try await client.send(APIConfiguration(path: "x", method: .post, body: .text("hello")))

        #expect(answer.status == 200)
        #expect(transport.requests.map(\.body.length) == [5, 5])
    }

    @Test(arguments: [(301, "POST", 1), (302, "POST", 1), (303, "POST", 1), (303, "PUT", 2), (307, "POST", 2)])
    func `a 401 from a redirect target repeats a write unless the redirect turned a POST into a GET`(
        status: Int,
        method: String,
        writes: Int
    ) async throws {
        let gate = TokenGate()
        let credentials = Credentials { _ in gate.refresh() }
        credentials.set(.bearer("a0"), in: .test)
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { request in
            request.url.path == "/v1/orders" ? .status(status, headers: ["Location": "/done"]) : gate.answer(request)
        }
        let method = try #require(HTTPMethod(method))

        let answer = try await client.send(APIConfiguration(path: "orders", method: method, body: .text("hello")))

        #expect(transport.requests.count { $0.url.path == "/v1/orders" } == writes)
        #expect(answer.status == (writes == 1 ? 401 : 200))
    }
}
