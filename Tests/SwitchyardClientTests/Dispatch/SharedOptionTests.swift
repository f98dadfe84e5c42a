import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// Calls with different options of the transfer do not share a transfer.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SharedOptionTests {
    private static func shared(_ path: String = "list") -> APIConfiguration {
        var configuration = APIConfiguration(path: path)
        configuration.sharing = .identical
        return configuration
    }

    @Test func `a call that must not be repeated does not join the transfer of a call that may be hedged`() async throws
    {
        var policy = SwitchPolicy.recommended
        policy.warmUp = nil
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(switching: policy, time: clock) { request in
            request.server == "primary" ? .never : .status(200)
        }
        var once = Self.shared()
        once.mayBeRepeated = false
        let first = Task { await client.failure(of: Self.shared()) }
        #expect(await transport.waitForRequests(1))

        let second = Task { [once] in await client.failure(of: once) }

        #expect(await transport.waitForRequests(2))
        #expect(await clock.waitForTimers(2))
        for _ in 0..<50 { clock.advance(by: .milliseconds(100)) }
        #expect(await first.value == nil)
        client.cancelAll()
        #expect(await second.value == .cancelled)
    }

    @Test func `the idle timeout of one call does not end another call`() async throws {
        let server = LoopbackServer()
        server.setDefaultRoute { _ in
            .stream { writer in
                try await writer.write("a")
                try await Task.sleep(for: .milliseconds(700))
                try await writer.write("b")
            }
        }
        try server.start()
        let client = try NetworkClient(service: .loopback([server], switching: .off))
        var hasty = Self.shared()
        hasty.idleTimeout = .milliseconds(200)
        let first = Task { [hasty] in await client.failure(of: hasty) }
        while server.requests.isEmpty { await Task.yield() }

        let second = try await client.send(Self.shared())

        #expect(second.text == "ab")
        #expect(await first.value != nil)
    }

    private static let differences: [@Sendable (inout APIConfiguration) -> Void] = [
        { $0.connectTimeout = .seconds(1) },
        { $0.idleTimeout = .seconds(1) },
        { $0.priority = .low },
        { $0.outlivesLogout = true },
        { $0.mayBeRepeated = false },
        { $0.retry = .never },
        { $0.limits = [ConcurrencyLimit(total: 1)] },
        { $0.interceptors = [.retrying { _ in .undecided }] },
    ]

    @Test(arguments: differences.indices)
    func `calls do not share a transfer if they differ in a setting that affects how it is sent`(index: Int) {
        var other = Self.shared()
        Self.differences[index](&other)

        let name = RequestCoalescing.identical.name(of: other)

        #expect(name == nil || name != RequestCoalescing.identical.name(of: Self.shared()))
    }

    @Test func `calls that differ only in their deadline or observers share a transfer`() {
        var other = Self.shared()
        other.timeout = .seconds(1)
        other.interceptors = [.observing { _ in }]

        #expect(RequestCoalescing.identical.name(of: other) == RequestCoalescing.identical.name(of: Self.shared()))
    }
}
