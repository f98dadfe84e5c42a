import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct StubTransportTests {
    private let clock = ManualClock()

    // MARK: scripts

    @Test func `the closure of a stub transport returns the response`() async throws {
        let transport = StubTransport { request in .json(#"{"method": "\#(request.method)"}"#, status: 201) }

        let response = try await transport.outcome(of: .stub("/topics", method: .put)).get()

        #expect(response.status == 201)
        #expect(response.headers["content-type"] == "application/json")
        #expect(try response.text == #"{"method": "PUT"}"#)
    }

    @Test func `a stub returns its list of responses in order, and fails when the list is used up`() async throws {
        let transport = StubTransport(answers: [.failure(.connectionRefused), .json("1")])

        let results = [
            await transport.outcome(of: .stub("/")), await transport.outcome(of: .stub("/")),
            await transport.outcome(of: .stub("/")),
        ]

        #expect(results[0].failure?.kind == .connectionRefused)
        #expect(results[0].failure?.mayHaveBeenSent == false)
        #expect(try results[1].get().text == "1")
        #expect(results[2].failure?.kind == .other)
    }

    @Test func `a stub finds its responses by path`() async throws {
        let transport = StubTransport(["/topics": .json("[]"), "/": .json("root")])

        #expect(try await transport.outcome(of: .stub("/topics?page=2")).get().text == "[]")
        #expect(try await transport.outcome(of: .stub("")).get().text == "root")
        #expect(await transport.outcome(of: .stub("/users")).failure?.kind == .other)
    }

    @Test func `a stub records only the last requests`() async {
        let transport = StubTransport(recordLimit: 2) { _ in .json("1") }

        for index in 1...5 { _ = await transport.outcome(of: .stub("/\(index)")) }

        #expect(transport.requests.map(\.url.text) == ["http://stub.test/4", "http://stub.test/5"])
        #expect(transport.requestCount == 5)
        #expect(await transport.waitForRequests(5))
        #expect(await transport.waitUntilIdle())
    }

    @Test func `a stub can record requests without a limit`() async {
        let transport = StubTransport(recordLimit: .max) { _ in .json("1") }

        for index in 1...3 { _ = await transport.outcome(of: .stub("/\(index)")) }

        #expect(transport.requests.count == 3)
    }

    // MARK: completion

    @Test func `a completion of a stub transport on a queue runs after start returns`() async {
        let transport = StubTransport { _ in .json("1") }
        let lock = Locked(false)

        let isHeld = await withCheckedContinuation { continuation in
            // If the completion ran inside `start`, the lock would deadlock.
            lock.withLock { isHeld in
                isHeld = true
                _ = transport.start(.stub("/"), progress: nil) { _ in
                    continuation.resume(returning: lock.withLock { $0 })
                }
                isHeld = false
            }
        }

        #expect(!isHeld)
    }

    @Test func `an inline completion of a stub transport runs inside start`() {
        let transport = StubTransport(completion: .inline) { _ in .json("1") }
        let status = Locked(0)

        _ = transport.start(.stub("/"), progress: nil) { result in
            status.withLock { $0 = (try? result.get().status) ?? -1 }
        }

        #expect(status.withLock { $0 } == 200)
        #expect(transport.openExchanges == 0)
    }

    @Test func `a delayed response arrives when the clock reaches its time`() async throws {
        let transport = StubTransport { [clock] _ in .delayed(by: .seconds(5), on: clock, .json("late")) }
        async let result = transport.outcome(of: .stub("/"))
        await clock.waitForTimers(1)

        clock.advance(by: .seconds(4))
        #expect(transport.openExchanges == 1)
        clock.advance(by: .seconds(1))

        #expect(try await result.get().text == "late")
        #expect(transport.openExchanges == 0)
    }

    // MARK: ends

    @Test(arguments: [StubTransport.Completion.queue, .inline])
    func `a cancel ends a stub exchange that never completes`(completion: StubTransport.Completion) async {
        let transport = StubTransport(completion: completion) { _ in .never }

        let result = await withCheckedContinuation { continuation in
            let task = transport.start(.stub("/"), progress: nil) { continuation.resume(returning: $0) }
            task.cancel()
            task.cancel()
        }

        #expect(result.failure?.kind == .cancelled)
        #expect(transport.openExchanges == 0)
    }

    @Test func `a cancel removes the timer of a delayed response`() async {
        let transport = StubTransport { [clock] _ in .delayed(by: .seconds(5), on: clock, .json("late")) }

        let result = await withCheckedContinuation { continuation in
            transport.start(.stub("/"), progress: nil) { continuation.resume(returning: $0) }.cancel()
        }

        #expect(result.failure?.kind == .cancelled)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `cancelling a stub exchange after its end has no effect`() async throws {
        let transport = StubTransport { _ in .json("1") }
        let count = Locked(0)
        let task = transport.start(.stub("/"), progress: nil) { _ in count.withLock { $0 += 1 } }
        await transport.waitUntilIdle()

        task.cancel()
        _ = await transport.outcome(of: .stub("/"))

        #expect(count.withLock { $0 } == 1)
    }

    @Test func `concurrent responses and cancels complete each stub exchange once`() async {
        let transport = StubTransport { [clock] _ in .delayed(by: .seconds(1), on: clock, .json("1")) }
        let count = Locked(0)
        let tasks = (0..<500).map { _ in
            transport.start(.stub("/"), progress: nil) { _ in count.withLock { $0 += 1 } }
        }

        async let advanced: Void = clock.advance(by: .seconds(1))
        for task in tasks { task.cancel() }
        await advanced
        // The queue is serial, so all other completions have run before this one.
        await withCheckedContinuation { continuation in
            transport.start(.stub("/"), progress: nil) { _ in continuation.resume() }.cancel()
        }

        #expect(count.withLock { $0 } == 500)
        #expect(transport.openExchanges == 0)
    }

    @Test func `a shutdown closes all open and all later exchanges`() async {
        let transport = StubTransport { _ in .never }
        async let open = transport.outcome(of: .stub("/"))
        await transport.waitForRequests(1)

        transport.shutdown()
        transport.shutdown()

        #expect(await open.failure?.kind == .closed)
        #expect(await transport.outcome(of: .stub("/")).failure?.kind == .closed)
        #expect(transport.openExchanges == 0)
    }

    @Test func `a response that is delayed beyond the idle timeout fails`() async {
        let transport = StubTransport { [clock] _ in .delayed(by: .seconds(9), on: clock, .json("{}")) }
        var request = HTTPRequest.stub("/")
        request.timeouts.idle = .seconds(2)
        let outcome = Task { [request] in await transport.outcome(of: request) }
        await clock.waitForTimers(1)

        clock.advance(by: .seconds(9))

        #expect(await outcome.value.failure?.kind == .timeout)
        #expect(transport.openExchanges == 0)
    }

    @Test(arguments: [HTTPRequest.Timeouts(total: .seconds(3)), HTTPRequest.Timeouts(idle: .seconds(3))])
    func `total and idle timeouts use the transport's clock while no response arrives`(
        timeouts: HTTPRequest.Timeouts
    ) async {
        let transport = StubTransport(time: clock) { _ in .never }
        var request = HTTPRequest.stub("/")
        request.timeouts = timeouts
        async let result = transport.outcome(of: request)
        await clock.waitForTimers(1)

        clock.advance(by: .seconds(3))

        #expect(await result.failure?.kind == .timeout)
    }
}
