import Dispatch
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// More dead servers than a request has attempts, beside a server that works.
///
/// No response shows that the dead servers and not the network are at fault, so the first calls cannot eject any of
/// them.
@Suite(.timeLimit(.minutes(5)), .prompt) struct DeadMajorityTests {
    private static let refused = StubResponse.failure(.connectionRefused)

    @Test(arguments: 4...6)
    func `the first call succeeds if only the last of several servers accepts connections`(servers: Int) async throws {
        let calls = try Calls(servers: servers, dead: Self.refused)

        #expect(await calls.ends(of: 1) == ["200"])
        #expect(calls.transport.requests.map(\.server) == calls.names)
    }

    @Test(arguments: [StubResponse.failure(.connectionReset), nil])
    func `a read succeeds at the fourth server if two servers refuse it and the third server fails`(
        third: StubResponse?
    ) async throws {
        let calls = try Calls(servers: 4, dead: Self.refused, third: .some(third))

        #expect(await calls.ends(of: 1) == ["200"])
        #expect(calls.transport.requests.map(\.server) == calls.names)
    }

    @Test func `a policy with one attempt sends a refused request to no other server`() async throws {
        let calls = try Calls(servers: 4, dead: Self.refused) { $0.maximumAttempts = 1 }

        #expect(await calls.ends(of: 1) == ["connectionRefused"])
        #expect(calls.transport.requestCount == 1)
    }

    @Test(arguments: [StubResponse.failure(.connectionReset), .status(500), .status(503), nil])
    func `if three of four servers fail, only the first call may fail`(dead: StubResponse?) async throws {
        let calls = try Calls(servers: 4, dead: dead)

        #expect(await calls.ends(of: 4).dropFirst() == ["200", "200", "200"])
    }

    @Test func `if five of six servers reset connections, only the first two calls may fail`() async throws {
        let calls = try Calls(servers: 6, dead: .failure(.connectionReset))

        #expect(await calls.ends(of: 8).dropFirst(2).allSatisfy { $0 == "200" })
    }

    @Test func `if all servers except the last die after some calls, every later call succeeds`() async throws {
        let calls = try Calls(servers: 4, dead: Self.refused)
        calls.isOutage.withLock { $0 = false }
        #expect(await calls.ends(of: 50).allSatisfy { $0 == "200" })
        calls.isOutage.withLock { $0 = true }

        #expect(await calls.ends(of: 50).allSatisfy { $0 == "200" })
    }
}

/// A client whose servers, except the last one, fail during an outage.
private struct Calls {
    let transport: StubTransport
    let names: [String]
    let isOutage = Locked(true)
    private let client: NetworkClient
    private let time = ManualClock()

    /// Takes the response of the dead servers, or `nil` if they never respond, and that of the third server if it
    /// differs.
    init(
        servers: Int,
        dead: StubResponse?,
        third: StubResponse?? = nil,
        policy change: (inout SwitchPolicy) -> Void = { _ in }
    ) throws {
        let (time, isOutage) = (time, isOutage)
        let names = (1...servers).map { "server\($0)" }
        transport = StubTransport(completion: .inline) { request in
            guard isOutage.withLock({ $0 }), request.server != names.last else { return .status(200) }
            let end = request.server == "server3" ? third ?? dead : dead
            return end ?? .delayed(by: .seconds(1000), on: time, .status(200))
        }
        var policy = SwitchPolicy.recommended
        change(&policy)
        let service = try Service(
            name: "topics",
            servers: names.map { try Server(name: $0, baseURLs: [.test: ServerURL("http://\($0).test")]) },
            defaultEnvironment: .test,
            switching: policy
        )
        client = try NetworkClient(service: service, transport: transport, options: .init(seed: 1), time: time)
        self.names = names
    }

    /// Makes calls one after another, each with a time limit of 2 s, and returns how they end.
    func ends(of count: Int) async -> [String] {
        var ends: [String] = []
        for _ in 0..<count {
            let (end, continuation) = AsyncStream.makeStream(of: String.self)
            client.send(APIConfiguration(path: "list", timeout: .seconds(2)), on: .global()) { result in
                continuation.yield(Self.name(of: result))
                continuation.finish()
            }
            for _ in 0..<400 { time.advance(by: .milliseconds(5)) }
            for await name in end { ends.append(name) }
        }
        return ends
    }

    private static func name(of result: Result<ServiceResponse, RequestFailure>) -> String {
        switch result {
        case .success(let response): "\(response.status)"
        case .failure(let failure):
            if case .transport(let error) = failure.reason { "\(error.kind)" } else { "\(failure.reason)" }
        }
    }
}
