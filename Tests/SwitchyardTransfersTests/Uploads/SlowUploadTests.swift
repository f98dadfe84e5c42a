import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import SwitchyardTransport
import Testing

/// A slow upload is sent to a second server only after its progress has stopped.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SlowUploadTests {
    private static let piece = 100_000

    private let clock = ManualClock()
    private let servers = [LoopbackServer(), LoopbackServer()]
    private let sent = Recorder<Int64>()

    private func client() throws -> NetworkClient {
        for server in servers {
            server.route(.put, "/film") { .text("\(try await $0.body.collect().count)") }
            try server.start()
        }
        return try NetworkClient(service: try .loopback(servers), options: .init(seed: 1), time: clock)
    }

    /// An upload whose first reader returns a piece per opened gate, and whose later readers return all pieces.
    private func upload(_ gates: [Gate], _ readers: Locked<Int>) -> UploadConfiguration {
        let stream = HTTPBody.Stream(length: Int64(gates.count * Self.piece)) {
            let isFirst = readers.withLock { count in
                count += 1
                return count == 1
            }
            return StepReader(count: gates.count, length: Self.piece, gates: isFirst ? gates : [])
        }
        var upload = UploadConfiguration(path: "film", method: .put, from: .stream(stream))
        upload.request.mayBeRepeated = true
        return upload
    }

    /// Starts an upload and counts the readers that it creates.
    private func begin(
        _ upload: UploadConfiguration,
        through client: NetworkClient
    ) -> Task<ServiceResponse, any Error> {
        Task { [sent] in
            try await client.upload(upload) { report in
                if report.direction == .upload { sent.record(report.completed) }
            }
        }
    }

    /// Opens the gate of a piece and waits until the piece is sent.
    private func give(_ index: Int, of gates: [Gate]) async {
        gates[index].open()
        let end = Int64((index + 1) * Self.piece)
        await until { sent.values.contains { $0 >= end } }
    }

    @Test func `an upload that makes progress is not sent a second time`() async throws {
        let client = try client()
        let (gates, readers) = ((0..<4).map { _ in Gate() }, Locked(0))
        let call = begin(upload(gates, readers), through: client)

        for index in gates.indices {
            await give(index, of: gates)
            clock.advance(by: .seconds(9))
        }

        #expect(try await call.value.context.attempts == 1)
        #expect(readers.withLock { $0 } == 1)
        #expect(servers[1].requests.isEmpty)
    }

    @Test func `the time to send a body does not count as latency of the server`() async throws {
        let client = try client()
        let (gates, readers) = ((0..<2).map { _ in Gate() }, Locked(0))
        let call = begin(upload(gates, readers), through: client)
        await give(0, of: gates)
        clock.advance(by: .seconds(9))
        await give(1, of: gates)

        _ = try await call.value

        #expect(client.servers[0].p99 ?? .zero < .seconds(1))
    }

    @Test func `an upload without progress is sent to the next server`() async throws {
        let client = try client()
        let (gates, readers) = ((0..<2).map { _ in Gate() }, Locked(0))
        let call = begin(upload(gates, readers), through: client)
        await give(0, of: gates)

        clock.advance(by: .seconds(11))

        #expect(try await call.value.context.server == "secondary")
        #expect(readers.withLock { $0 } == 2)
        gates[1].open()
    }

    @Test(arguments: [(0, 1), (4, 4), (9, 9)])
    func `the timeout for the response to an upload is the time of sending the body, but at least a second`(
        seconds: Int,
        timeout: Int
    ) async throws {
        let client = try client()
        let held = Gate()
        servers[0].route(.put, "/film") { _ in
            await held.pass()
            return .text("late")
        }
        let (gates, readers) = ((0..<2).map { _ in Gate() }, Locked(0))
        let call = begin(upload(gates, readers), through: client)
        await give(0, of: gates)
        clock.advance(by: .seconds(seconds))
        await give(1, of: gates)

        clock.advance(by: .seconds(timeout) - .milliseconds(1))
        #expect(readers.withLock { $0 } == 1)
        clock.advance(by: .seconds(1))
        await until { readers.withLock { $0 } == 2 }

        #expect(try await call.value.context.server == "secondary")
        held.open()
    }
}

/// Returns pieces of one length, each after its gate has opened.
private actor StepReader: HTTPBodyReader {
    private var left: Int
    private let length: Int
    private var gates: [Gate]

    init(count: Int, length: Int, gates: [Gate]) {
        left = count
        self.length = length
        self.gates = gates
    }

    func read(maximumLength: Int) async throws -> Data? {
        guard left > 0 else { return nil }
        left -= 1
        if !gates.isEmpty { await gates.removeFirst().pass() }
        return Data(count: length)
    }
}
