import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct StubBodyTests {
    private let clock = ManualClock()
    private let pieces = ["one ", "two ", "three"].map { Data($0.utf8) }

    @Test func `the chunks of a stub form the whole body`() async throws {
        let transport = StubTransport { [pieces] _ in .chunks(pieces) }

        #expect(try await transport.outcome(of: .stub("/")).get().text == "one two three")
    }

    @Test func `a body of 200,000 chunks is joined`() async throws {
        let transport = StubTransport { _ in .chunks([Data](repeating: Data("ab".utf8), count: 200_000)) }

        #expect(try await transport.outcome(of: .stub("/")).get().text.utf8.count == 400_000)
    }

    @Test func `the chunks of a stub arrive one by one in a stream`() async throws {
        let transport = StubTransport { [pieces] _ in .chunks(pieces, status: 206) }

        let response = try await transport.outcome(of: .stub("/", delivery: .stream)).get()
        var received: [Data] = []
        for try await piece in try response.stream { received.append(piece) }

        #expect(response.status == 206)
        #expect(received == pieces)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `a stub response with a body is streamed as one chunk, and without a body as no chunk`() async throws {
        let transport = StubTransport(["/a": .json("body"), "/b": .status(204)])

        for (path, expected) in [("/a", [Data("body".utf8)]), ("/b", [])] {
            var received: [Data] = []
            let response = try await transport.outcome(of: .stub(path, delivery: .stream)).get()
            for try await piece in try response.stream { received.append(piece) }
            #expect(received == expected)
        }
    }

    @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
    func `the chunks of a stub arrive when the clock reaches their times`(delivery: HTTPRequest.Delivery) async throws {
        let transport = StubTransport { [pieces, clock] _ in .chunks(pieces, every: .seconds(1), on: clock) }
        let body = Task {
            let response = try await transport.outcome(of: .stub("/", delivery: delivery)).get()
            guard delivery == .stream else { return try response.text }
            var bytes = Data()
            for try await piece in try response.stream { bytes.append(piece) }
            return String(decoding: bytes, as: UTF8.self)
        }

        for _ in pieces {
            await clock.waitForTimers(1)
            clock.advance(by: .seconds(1))
        }

        #expect(try await body.value == "one two three")
        #expect(clock.now == MonotonicTime(seconds: 3))
    }

    @Test func `a stub body may fail after its last chunk`() async throws {
        let cut = TransportError(.truncated, message: "cut")
        let transport = StubTransport { [pieces] _ in .chunks(pieces, failing: cut) }

        #expect(await transport.outcome(of: .stub("/")).failure == cut)
        let stream = try await transport.outcome(of: .stub("/", delivery: .stream)).get().stream
        var count = 0
        await #expect(throws: cut) { for try await _ in stream { count += 1 } }

        #expect(count == 3)
        #expect(transport.openExchanges == 0)
    }

    @Test func `a cancel ends a stub body that is being read`() async throws {
        let transport = StubTransport { [pieces, clock] _ in .chunks(pieces, every: .seconds(1), on: clock) }
        let (tasks, hand) = AsyncStream.makeStream(of: (any TransportTask).self)
        let result = await withCheckedContinuation { continuation in
            hand.yield(
                transport.start(.stub("/", delivery: .stream), progress: nil) { continuation.resume(returning: $0) }
            )
        }
        let stream = try result.get().stream
        let reading = Task { for try await _ in stream {} }
        await clock.waitForTimers(1)

        await tasks.first { _ in true }?.cancel()

        let failure = await reading.result.failure as? TransportError
        #expect(failure?.kind == .cancelled)
        #expect(clock.pendingTimers == 0)
        #expect(transport.openExchanges == 0)
    }

    @Test func `cancelling the reading task ends a stub body`() async throws {
        let transport = StubTransport { [pieces, clock] _ in .chunks(pieces, every: .seconds(1), on: clock) }
        let stream = try await transport.outcome(of: .stub("/", delivery: .stream)).get().stream
        let reading = Task { for try await _ in stream {} }
        await clock.waitForTimers(1)

        reading.cancel()

        let failure = await reading.result.failure as? TransportError
        #expect(failure?.kind == .cancelled)
        #expect(clock.pendingTimers == 0)
        #expect(transport.openExchanges == 0)
    }

    @Test func `a shutdown ends a stub body that is being read`() async throws {
        let transport = StubTransport { [pieces, clock] _ in .chunks(pieces, every: .seconds(1), on: clock) }
        let stream = try await transport.outcome(of: .stub("/", delivery: .stream)).get().stream

        transport.shutdown()

        await #expect(throws: TransportError(.closed, message: "the transport was shut down")) {
            for try await _ in stream {}
        }
    }

    @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
    func `a stub body above the request's limit fails`(delivery: HTTPRequest.Delivery) async throws {
        let transport = StubTransport { [pieces] _ in .chunks(pieces) }
        var request = HTTPRequest.stub("/", delivery: delivery)
        request.responseBodyLimit = 8

        let result = await transport.outcome(of: request)

        guard delivery == .stream else {
            #expect(result.failure?.kind == .bodyTooLarge)
            return
        }
        var count = 0
        let stream = try result.get().stream
        let error = await #expect(throws: TransportError.self) {
            for try await piece in stream { count += piece.count }
        }
        #expect(error?.kind == .bodyTooLarge)
        #expect(count == 8)
    }

    @Test(arguments: [HTTPRequest.Delivery.whole, .stream])
    func `a pause longer than the idle timeout ends a stub body with a failure`(delivery: HTTPRequest.Delivery)
        async throws
    {
        let transport = StubTransport { [pieces, clock] _ in .chunks(pieces, every: .seconds(9), on: clock) }
        var request = HTTPRequest.stub("/", delivery: delivery)
        request.timeouts.idle = .seconds(2)
        let result = Task { [request] in
            let response = try await transport.outcome(of: request).get()
            if delivery == .stream { for try await _ in try response.stream {} }
        }
        await clock.waitForTimers(1)

        clock.advance(by: .seconds(2))

        let failure = await result.result.failure as? TransportError
        #expect(failure?.kind == .timeout)
        #expect(transport.openExchanges == 0)
    }

    @Test func `the progress of a stub body is reported chunk by chunk`() async throws {
        let transport = StubTransport { [pieces] _ in .chunks(pieces) }
        let reports = Locked<[Int64]>([])

        _ = await transport.outcome(of: .stub("/")) { report in reports.withLock { $0.append(report.completed) } }

        #expect(reports.withLock { $0 } == [4, 8, 13])
    }
}
