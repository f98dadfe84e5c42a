import Dispatch
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Many simultaneous calls on a client that has just started, as when an app launches.
///
/// The client has few tokens for extra attempts yet and knows nothing about its servers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BurstTests {
    private static let soon = Duration.milliseconds(20)
    private static let never = Duration.seconds(100)
    private static let reset = StubResponse.failure(.connectionReset)

    @Test(arguments: [20, 64, 128])
    func `a burst of reads succeeds even if the first server hangs`(calls: Int) async throws {
        let burst = try Burst { $0 == "primary" ? (Self.never, .status(200)) : (Self.soon, .status(200)) }

        #expect(await burst.ends(of: calls, within: .seconds(4)) == ["200": calls])
    }

    @Test(arguments: [20, 64, 128], [reset, .status(500), .status(503)])
    func `a burst of reads succeeds even if the first server fails`(calls: Int, failure: StubResponse) async throws {
        let burst = try Burst { $0 == "primary" ? (Self.soon, failure) : (Self.soon, .status(200)) }

        #expect(await burst.ends(of: calls, within: .seconds(1)) == ["200": calls])
    }

    @Test(arguments: [5, 20, 64, 128])
    func `a burst of reads succeeds even if two of three servers hang`(calls: Int) async throws {
        let burst = try Burst { $0 == "tertiary" ? (Self.soon, .status(200)) : (Self.never, .status(200)) }

        #expect(await burst.ends(of: calls, within: .seconds(6)) == ["200": calls])
    }

    @Test(arguments: [20, 64, 128], [reset, .status(500)])
    func `a burst of reads succeeds even if two of three servers fail`(
        calls: Int,
        failure: StubResponse
    ) async throws {
        let burst = try Burst { $0 == "tertiary" ? (Self.soon, .status(200)) : (Self.soon, failure) }

        #expect(await burst.ends(of: calls, within: .seconds(2)) == ["200": calls])
    }

    @Test func `if every server fails, a burst of reads fails within seconds and sends few extra attempts`()
        async throws
    {
        let burst = try Burst { _ in (Self.soon, Self.reset) }

        #expect(await burst.ends(of: 64, within: .milliseconds(200)) == ["connectionReset": 64])
        // One pair of suspicion probes follows when the budget is empty.
        #expect(burst.transport.requestCount <= 64 + 2 * 10 + 2)
    }

    @Test func `reads that wait to fail over fail within seconds if the other servers hang`() async throws {
        let burst = try Burst { $0 == "primary" ? (Self.soon, Self.reset) : (Self.never, .status(200)) }

        #expect(await burst.ends(of: 64, within: .seconds(3)) == ["connectionReset": 54, "cancelled": 10])
    }

    @Test func `reads that wait to fail over can be cancelled`() async throws {
        let burst = try Burst { $0 == "primary" ? (Self.soon, Self.reset) : (Self.never, .status(200)) }

        #expect(await burst.ends(of: 64, within: .milliseconds(200)) == ["cancelled": 64])
    }
}

/// A client with three stubbed servers, and the calls that are sent at the same time.
private struct Burst {
    let transport: StubTransport
    private let client: NetworkClient
    private let time = ManualClock()

    /// Takes a closure that returns the delay and the response of each server.
    init(_ answer: @escaping @Sendable (_ server: String?) -> (Duration, StubResponse)) throws {
        let time = time
        transport = StubTransport(completion: .inline) { request in
            let (delay, answer) = answer(request.server)
            return .delayed(by: delay, on: time, answer)
        }
        let service = try Service.topics()
        client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: time)
    }

    /// Counts the calls by how they end.
    ///
    /// Calls that are still running after `limit` are cancelled.
    func ends(of calls: Int, within limit: Duration) async -> [String: Int] {
        let (ends, continuation) = AsyncStream.makeStream(of: String.self)
        let configuration = APIConfiguration(path: "list", timeout: .seconds(10))
        for _ in 0..<calls {
            client.send(configuration, on: .global()) { continuation.yield(Self.name(of: $0)) }
        }
        for _ in 0..<Int(limit / .milliseconds(5)) { time.advance(by: .milliseconds(5)) }
        client.cancelAll()
        var counts: [String: Int] = [:]
        for await end in ends.prefix(calls) { counts[end, default: 0] += 1 }
        return counts
    }

    private static func name(of result: Result<ServiceResponse, RequestFailure>) -> String {
        switch result {
        case .success(let response): "\(response.status)"
        case .failure(let failure):
            if case .transport(let error) = failure.reason { "\(error.kind)" } else { "\(failure.reason)" }
        }
    }
}
