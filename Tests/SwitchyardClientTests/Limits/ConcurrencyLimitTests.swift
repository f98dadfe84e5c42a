import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite struct FairLineTests {
    private func drain(_ line: inout FairLine) -> [UInt64] {
        var order: [UInt64] = []
        while let ticket = line.next() { order.append(ticket.number) }
        return order
    }

    @Test func `a concurrency limit admits requests by priority, and requests of equal priority in their order`() {
        var line = FairLine()
        for (number, priority) in [(1, RequestPriority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
            line.enter(FairLine.Ticket(number: UInt64(number), owner: 1, priority: priority))
        }

        #expect(drain(&line) == [3, 5, 2, 4, 1])
    }

    @Test func `a concurrency limit admits the requests of different scopes alternately`() {
        var line = FairLine()
        for number in 1...6 { line.enter(FairLine.Ticket(number: UInt64(number), owner: 1, priority: .normal)) }
        line.enter(FairLine.Ticket(number: 7, owner: 2, priority: .normal))

        #expect(drain(&line).prefix(3) == [1, 7, 2])
    }

    @Test func `a concurrency limit admits a low-priority request after at most seven other requests`() {
        var line = FairLine()
        line.enter(FairLine.Ticket(number: 1, owner: 1, priority: .low))
        for number in 2...40 { line.enter(FairLine.Ticket(number: UInt64(number), owner: 2, priority: .high)) }

        #expect(drain(&line).firstIndex(of: 1) == FairLine.agingInterval - 1)
    }

    @Test
    func `scopes take turns in a concurrency limit even after a request was admitted because of its long wait`() {
        var line = FairLine()
        func enter(_ numbers: ClosedRange<UInt64>, owner: UInt64, _ priority: RequestPriority = .normal) {
            for number in numbers { line.enter(FairLine.Ticket(number: number, owner: owner, priority: priority)) }
        }
        enter(1...1, owner: 1)
        enter(2...8, owner: 2, .high)
        #expect(drain(&line).last == 1)

        enter(9...11, owner: 1)
        enter(12...14, owner: 3)

        #expect(drain(&line) == [9, 12, 10, 13, 11, 14])
    }

    @Test func `a request that is removed from the queue of a concurrency limit is not admitted later`() {
        var line = FairLine()
        for number in 1...3 { line.enter(FairLine.Ticket(number: UInt64(number), owner: 1, priority: .normal)) }

        #expect(line.leave(2) == true)
        #expect(line.leave(2) == false)

        #expect(drain(&line) == [1, 3])
        #expect(line.count == 0)
    }

    @Test
    func `after all requests in the queue of a concurrency limit have been admitted, no entry remains in memory`() {
        var line = FairLine()
        for number in UInt64(1)...40 { line.enter(FairLine.Ticket(number: number, owner: 1, priority: .normal)) }

        #expect(drain(&line) == Array(1...40))
        #expect(line.keptCount == 0)
    }

    @Test
    func `requests that leave the queue of a concurrency limit free their memory, and the others keep their order`() {
        var line = FairLine()
        let stays: Set<UInt64> = [1, 5_000, 10_000]
        for number in UInt64(1)...10_000 {
            line.enter(FairLine.Ticket(number: number, owner: number % 7, priority: .normal))
            if number.isMultiple(of: 3), !stays.contains(number) { _ = line.leave(number) }
        }
        for number in UInt64(1)...10_000 where !stays.contains(number) { _ = line.leave(number) }

        #expect(line.keptCount < 100)
        #expect(drain(&line) == [1, 5_000, 10_000])
    }

    @Test func `after all requests of a scope have left the queue, its next requests alternate with another scope`() {
        var line = FairLine()
        line.enter(FairLine.Ticket(number: 1, owner: 1, priority: .normal))
        for number in UInt64(2)...80 { line.enter(FairLine.Ticket(number: number, owner: 2, priority: .normal)) }
        for number in UInt64(1)...60 { _ = line.leave(number) }

        for number in UInt64(81)...82 { line.enter(FairLine.Ticket(number: number, owner: 1, priority: .normal)) }

        #expect(drain(&line).prefix(4) == [61, 81, 62, 82])
    }

    @Test func `every request leaves the queue of a concurrency limit exactly once under random operations`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var line = FairLine()
            var inside: Set<UInt64> = []
            for number in UInt64(1)...60 {
                let priority = [RequestPriority.low, .normal, .high].randomElement(using: &random) ?? .normal
                line.enter(FairLine.Ticket(number: number, owner: number % 5, priority: priority))
                inside.insert(number)
                if Bool.random(using: &random), let leaver = inside.randomElement(using: &random) {
                    #expect(line.leave(leaver) == true)
                    inside.remove(leaver)
                }
                if Bool.random(using: &random) {
                    let ticket = line.next()
                    let wasInside = ticket.map { inside.contains($0.number) } ?? inside.isEmpty
                    #expect(wasInside)
                    if let ticket { inside.remove(ticket.number) }
                }
                #expect(line.count == inside.count)
            }
            #expect(Set(drain(&line)) == inside)
        }
    }
}

@Suite(.timeLimit(.minutes(5)), .prompt) struct ConcurrencyLimitTests {
    @Test func `no more requests than the limit run at the same time, and all of them run`() async throws {
        let limit = ConcurrencyLimit(total: 3)
        let most = Locked(0)
        let (client, transport) = try NetworkClient.limited([limit]) { _ in
            most.withLock { $0 = max($0, limit.runningCount) }
            return .status(200)
        }

        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { #expect(await client.failure(of: .path("\(number)")) == nil) }
            }
        }

        #expect(transport.requestCount == 200)
        #expect(most.withLock { $0 } <= 3)
        #expect(limit.runningCount == 0 && limit.waitingCount == 0)
    }

    @Test func `a request of high priority overtakes other requests, and a waiting request can be cancelled`()
        async throws
    {
        let limit = ConcurrencyLimit(total: 1)
        let (client, transport) = try NetworkClient.limited([limit]) { request in
            request.url.text.hasSuffix("first") ? .never : .status(200)
        }
        let first = RequestID()
        let running = Task { await client.failure(of: .path("first"), id: first) }
        #expect(await transport.waitForRequests(1))
        let low = Task { await client.failure(of: .path("low", priority: .low)) }
        await until { limit.waitingCount == 1 }
        let cancelled = RequestID()
        let gone = Task { await client.failure(of: .path("gone"), id: cancelled) }
        await until { limit.waitingCount == 2 }
        let high = Task { await client.failure(of: .path("high", priority: .high)) }
        await until { limit.waitingCount == 3 }

        client.cancel(cancelled)
        #expect(await gone.value == .cancelled)
        await until { limit.waitingCount == 2 }
        client.cancel(first)

        #expect(await running.value == .cancelled)
        #expect(await high.value == nil)
        #expect(await low.value == nil)
        #expect(transport.requests.map { $0.url.text.split(separator: "/").last } == ["first", "high", "low"])
    }

    @Test func `each server has its own concurrency limit`() async throws {
        let limit = ConcurrencyLimit(perServer: 1)
        let (client, transport) = try NetworkClient.limited([limit]) { _ in .never }
        let tasks = (0..<2).map { number in Task { await client.failure(of: .path("\(number)")) } }
        await until { limit.runningCount == 1 && limit.waitingCount == 1 }
        #expect(await transport.waitForRequests(1))

        try client.switchServer(to: "secondary")
        let other = Task { await client.failure(of: .path("other")) }
        #expect(await transport.waitForRequests(2))

        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
        await until { limit.runningCount == 2 && limit.waitingCount == 1 }
        client.cancelAll()
        for task in tasks + [other] { #expect(await task.value == .cancelled) }
        await until { limit.runningCount == 0 && limit.waitingCount == 0 }
    }

    @Test func `a request fails if the queue of its concurrency limit is full`() async throws {
        let limit = ConcurrencyLimit(total: 1, maximumWaiting: 1)
        let (client, _) = try NetworkClient.limited([limit]) { _ in .never }
        let tasks = (0..<2).map { number in Task { await client.failure(of: .path("\(number)")) } }
        await until { limit.waitingCount == 1 }

        #expect(await client.failure(of: .path("more")) == .queueFull)

        client.cancelAll()
        for task in tasks { #expect(await task.value == .cancelled) }
    }

    @Test func `the deadline ends a request that waits for a concurrency limit`() async throws {
        let clock = ManualClock()
        let limit = ConcurrencyLimit(total: 1)
        let (client, _) = try NetworkClient.limited([limit], time: clock) { _ in .never }
        let running = Task { await client.failure(of: .path("running")) }
        await until { limit.runningCount == 1 }
        let waiting = Task { await client.failure(of: .path("waiting", timeout: .seconds(2))) }
        await until { limit.waitingCount == 1 }

        clock.advance(by: .seconds(2))

        #expect(await waiting.value == .deadlineExceeded)
        await until { limit.waitingCount == 0 }
        client.cancelAll()
        #expect(await running.value == .cancelled)
        await until { limit.runningCount == 0 }
    }

    @Test func `a credential refresh does not wait for the requests that wait for it`() async throws {
        let limit = ConcurrencyLimit(total: 1)
        let transport = StubTransport { _ in .status(200) }
        var options = NetworkClient.Options(seed: 1)
        options.limits = [limit]
        options.credentials = Credentials { refresh in
            _ = try await refresh.client.send(APIConfiguration(path: "token", method: .post))
            return .bearer("fresh")
        }
        let service = try Service.topics(switching: .off)
        let client = try NetworkClient(service: service, transport: transport, options: options, time: ManualClock())
        let calls = (0..<3).map { _ in Task { await client.failure(of: .path("list")) } }
        await until { transport.requestCount > 0 || limit.waitingCount == 3 }

        #expect(limit.waitingCount < 3)

        if transport.requestCount == 0 { client.cancelAll() }
        for call in calls { #expect(await call.value == nil) }
        #expect(transport.requestCount == 4)
        #expect(limit.runningCount == 0)
    }

    @Test func `a request that an interceptor sends does not wait for the slot of the intercepted request`()
        async throws
    {
        let limit = ConcurrencyLimit(total: 1)
        let (client, transport) = try NetworkClient.limited([limit])
        var call = APIConfiguration.path("list")
        call.interceptors = [
            .adapting("nonce") { configuration, _ in
                let answer = try await client.send(.path("nonce"))
                configuration.headers.set("Nonce", "\(answer.status)")
            }
        ]
        let (first, second) = (call, call)
        let calls = [first, second].map { call in Task { await client.failure(of: call) } }
        await until { transport.requestCount > 0 || limit.waitingCount == 2 }

        #expect(limit.waitingCount < 2)

        if transport.requestCount == 0 { client.cancelAll() }
        for call in calls { #expect(await call.value == nil) }
        #expect(transport.requestCount == 4)
        #expect(limit.runningCount == 0)
    }
}
