import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// Pin rules by value and with stubs.
///
/// ``TrustTests`` and ``ChainPinTests`` use real connections.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct PinRuleTests {
    static func pin(_ byte: UInt8) throws -> TLSPin {
        try #require(TLSPin(Data(repeating: byte, count: 32).base64EncodedString()))
    }

    /// A transport for stubs that have the key `1` and reject other pins.
    private static func transport(
        _ rules: [PinRule],
        otherHosts: PinnedTransport.OtherHosts = .allowed,
        now: Date = Date(timeIntervalSince1970: 0),
        report: @escaping @Sendable (PinnedTransport.Mismatch) -> Void = { _ in }
    ) throws -> PinnedTransport {
        let key = try pin(1)
        return try PinnedTransport(rules: rules, otherHosts: otherHosts, clock: { now }, report: report) { pins in
            StubTransport { _ in pins.isEmpty || pins.contains(key) ? .status(200) : .failure(.certificateRejected) }
        }
    }

    private static func status(_ transport: PinnedTransport, _ url: String) async throws -> Int? {
        let request = HTTPRequest(url: try #require(RequestURL(url)))
        do throws(TransportError) { return try await transport.send(request).status } catch {
            #expect(error.kind == .certificateRejected)
            return nil
        }
    }

    @Test func `each host has its own public key pins`() async throws {
        let transport = try Self.transport([
            PinRule(hosts: "good.test", pins: [Self.pin(1), Self.pin(2)]),
            PinRule(hosts: "**.bad.test", pins: [Self.pin(2), Self.pin(3)]),
        ])

        #expect(try await Self.status(transport, "https://good.test/") == 200)
        #expect(try await Self.status(transport, "https://bad.test/") == nil)
        #expect(try await Self.status(transport, "https://a.b.bad.test/") == nil)
        #expect(try await Self.status(transport, "https://other.test/") == 200)
    }

    @Test func `a host with a trailing dot is matched by its rule`() async throws {
        let transport = try Self.transport([
            PinRule(hosts: "bad.test", pins: [Self.pin(2), Self.pin(3)]),
            PinRule(hosts: "**.worse.test.", pins: [Self.pin(2), Self.pin(3)]),
        ])

        #expect(try await Self.status(transport, "https://bad.test./") == nil)
        #expect(try await Self.status(transport, "https://a.worse.test/") == nil)
        #expect(try await Self.status(transport, "https://A.Worse.Test./") == nil)
    }

    @Test func `a host's pins are added to a request's TLS configuration unless that configuration has pins`()
        async throws
    {
        let rule = try PinRule(hosts: "good.test", pins: [Self.pin(1), Self.pin(2)])
        let seen = Locked<[Set<TLSPin>?]>([])
        let transport = try PinnedTransport(rules: [rule]) { _ in
            StubTransport { request in
                seen.withLock { $0.append(request.tls?.pins) }
                return .status(200)
            }
        }
        var request = HTTPRequest(url: try #require(RequestURL("https://good.test/")))
        _ = try await transport.send(request)
        request.tls = TLSConfiguration(minimumVersion: .tls13)
        _ = try await transport.send(request)
        request.tls = TLSConfiguration(pins: [try Self.pin(3)])
        _ = try await transport.send(request)

        #expect(seen.withLock { $0 } == [nil, rule.pins, [try Self.pin(3)]])
    }

    @Test func `hosts without a pin rule can be rejected`() async throws {
        let rule = try PinRule(hosts: "good.test", pins: [Self.pin(1), Self.pin(2)])
        let transport = try Self.transport([rule], otherHosts: .refused)

        #expect(try await Self.status(transport, "https://good.test/") == 200)
        #expect(try await Self.status(transport, "https://other.test/") == nil)
    }

    @Test func `a server that matches any pin of its pin rule is accepted`() async throws {
        let transport = try Self.transport([PinRule(hosts: "good.test", pins: [Self.pin(9), Self.pin(1)])])

        #expect(try await Self.status(transport, "https://good.test/") == 200)
    }

    @Test func `an expired pin rule rejects no host`() async throws {
        let end = Date(timeIntervalSince1970: 100)
        let rule = try PinRule(hosts: "bad.test", pins: [Self.pin(2), Self.pin(3)], expiresAt: end)

        #expect(
            try await Self.status(Self.transport([rule], now: end.addingTimeInterval(-1)), "https://bad.test/") == nil
        )
        #expect(try await Self.status(Self.transport([rule], now: end), "https://bad.test/") == 200)
    }

    @Test func `a pin rule with reportOnly allows the request and reports the mismatch`() async throws {
        let mismatches = Locked<[PinnedTransport.Mismatch]>([])
        let rule = try PinRule(hosts: "bad.test", pins: [Self.pin(2)], mode: .reportOnly)
        let transport = try Self.transport([rule]) { mismatch in mismatches.withLock { $0.append(mismatch) } }

        #expect(try await Self.status(transport, "https://bad.test/") == 200)
        #expect(mismatches.withLock { $0 }.map(\.host) == ["bad.test"])
        #expect(mismatches.withLock { $0 }.map(\.rule) == [rule])
    }

    @Test
    func `with reportOnly, a request that fails for another reason than the pins is not reported and not repeated`()
        async throws
    {
        let rule = try PinRule(hosts: "bad.test", pins: [Self.pin(2)], mode: .reportOnly)
        let mismatches = Locked(0)
        let asked = Locked<[Bool]>([])
        let transport = try PinnedTransport(rules: [rule], report: { _ in mismatches.withLock { $0 += 1 } }) { pins in
            StubTransport { _ in
                asked.withLock { $0.append(!pins.isEmpty) }
                return .failure(.connectionReset)
            }
        }

        let error = await transport.failure(of: HTTPRequest(url: try #require(RequestURL("https://bad.test/"))))

        #expect(error?.kind == .connectionReset)
        #expect(asked.withLock { $0 } == [true])
        #expect(mismatches.withLock { $0 } == 0)
    }

    @Test func `all hosts get new connections after the connections are retired`() throws {
        let retired = Locked<[Bool]>([])
        let rule = try PinRule(hosts: "good.test", pins: [Self.pin(1), Self.pin(2)])
        let transport = try PinnedTransport(rules: [rule]) { pins in
            RetiringTransport { retired.withLock { $0.append(!pins.isEmpty) } }
        }

        transport.retireConnections()

        #expect(retired.withLock { $0 }.sorted { $0 && !$1 } == [true, false])
    }

    @Test func `a pinned host is not requested over plain http`() async throws {
        let transport = try Self.transport([PinRule(hosts: "good.test", pins: [Self.pin(1), Self.pin(2)])])

        #expect(try await Self.status(transport, "http://good.test/") == nil)
    }

    @Test func `a service with a pinned plain http server fails to create a client`() throws {
        let rule = try PinRule(hosts: "primary.test", pins: [Self.pin(1), Self.pin(2)])
        let transport = try Self.transport([rule])

        #expect(throws: ClientError.pins(.insecureBase("http://primary.test/v1"))) {
            _ = try NetworkClient(service: .topics(), transport: transport)
        }
    }

    @Test func `creating an invalid pin rule throws`() throws {
        let key = try Self.pin(1)

        #expect(throws: PinRule.Problem.noPins("a.test")) { _ = try PinRule(hosts: "a.test", pins: []) }
        #expect(throws: PinRule.Problem.noBackup("a.test")) { _ = try PinRule(hosts: "a.test", pins: [key]) }
        for pattern in [
            "", "*", "*.com", "a.*.test", "https://a.test", "a.test/x", "a b", ".a.test", "*..a.test", "a..test",
        ] {
            #expect(throws: PinRule.Problem.invalidPattern(pattern)) { _ = try PinRule(hosts: pattern, pins: [key]) }
        }
    }

    @Test func `a host in Unicode is pinned by its Punycode name`() throws {
        for text in ["*.bücher.test", "*.BÜCHER.test", "*.xn--bcher-kva.test"] {
            let pattern = try #require(HostPattern(text))

            #expect(pattern.description == "*.xn--bcher-kva.test")
            #expect(pattern.matches("a.xn--bcher-kva.test") && pattern.matches("a.bücher.test"))
            #expect(!pattern.matches("a.bucher.test"))
        }
    }

    @Test func `a transport that does not support pins is rejected when it is created`() throws {
        let rule = try PinRule(hosts: "a.test", pins: [Self.pin(1), Self.pin(2)])
        let cannot = TransportError(.unsupported, message: "no pins", mayHaveBeenSent: false)

        #expect(throws: PinRule.Problem.transport(cannot)) {
            _ = try PinnedTransport(rules: [rule]) { pins throws(TransportError) in
                guard pins.isEmpty else { throw cannot }
                return StubTransport { _ in .never }
            }
        }
    }

    @Test func `a request with a reportOnly rule can be cancelled during its second exchange`() async throws {
        let rule = try PinRule(hosts: "bad.test", pins: [Self.pin(2)], mode: .reportOnly)
        let plain = StubTransport { _ in .never }
        let transport = try PinnedTransport(rules: [rule]) { pins in
            pins.isEmpty ? plain : StubTransport { _ in .failure(.certificateRejected) }
        }
        let url = try #require(RequestURL("https://bad.test/"))

        let call = Task { try await transport.send(HTTPRequest(url: url)) }
        await plain.waitForRequests(1)
        call.cancel()

        await #expect(throws: TransportError.self) { _ = try await call.value }
        await plain.waitUntilIdle()
    }

    @Test func `a request with a reportOnly rule can be cancelled while its second exchange starts`() async throws {
        let rule = try PinRule(hosts: "bad.test", pins: [Self.pin(2)], mode: .reportOnly)
        let clock = ManualClock()
        let task = Locked<(any TransportTask)?>(nil)
        let plain = StubTransport { _ in
            task.withLock { $0 }?.cancel()
            return .never
        }
        let transport = try PinnedTransport(rules: [rule]) { pins in
            pins.isEmpty
                ? plain
                : StubTransport { _ in .delayed(by: .seconds(1), on: clock, .failure(.certificateRejected)) }
        }
        let url = try #require(RequestURL("https://bad.test/"))

        let call = transport.start(HTTPRequest(url: url), progress: nil) { _ in }
        task.withLock { $0 = call }
        await clock.waitForTimers(1)
        clock.advance(by: .seconds(1))

        #expect(await plain.waitForRequests(1))
        #expect(await plain.waitUntilIdle())
    }

    @Test func `a pinned plain http server cannot be added by switching the environment or the servers`() throws {
        let rule = try PinRule(hosts: "primary.test", pins: [Self.pin(1), Self.pin(2)])
        let transport = try Self.transport([rule])
        let client = try NetworkClient(service: .topics(), environment: .release, transport: transport)
        let open = ["test", "release"].map { (ServiceEnvironment(stringLiteral: $0), "http://primary.test") }
        let urls = Dictionary(uniqueKeysWithValues: try open.map { ($0.0, try ServerURL($0.1)) })

        #expect(throws: ClientError.pins(.insecureBase("http://primary.test/v1"))) {
            try client.switchEnvironment(to: .test)
        }
        #expect(throws: ClientError.pins(.insecureBase("http://primary.test"))) {
            try client.replaceServers([Server(name: "primary", baseURLs: urls)])
        }
        #expect(client.environment == .release)
    }
}

/// A transport that only counts how often its connections are retired.
private struct RetiringTransport: Transport {
    let whenRetired: @Sendable () -> Void

    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        StubTransport { _ in .status(200) }.start(request, progress: progress, completion: completion)
    }

    func retireConnections() { whenRetired() }

    func shutdown() {}
}
