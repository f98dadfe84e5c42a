import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// How a client protects servers that are shared by all clients.
@Suite(.timeLimit(.minutes(5)), .prompt) struct FleetTests {
    @Test func `while every server is overloaded, a policy that sheds load drops requests of low priority`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(switching: .shedding, servers: 2) { _ in .status(503) }
        for _ in 0..<6 { _ = try await client.send(.urgent) }
        var background = APIConfiguration(path: "list")
        background.priority = .low
        let sent = transport.requestCount

        let reason = await client.failure(of: background)

        #expect(reason == .overloaded)
        #expect(transport.requestCount == sent)
    }

    @Test func `a policy that sheds load never drops requests of high priority`() async throws {
        let (client, transport) = try NetworkClient.stubbed(servers: 2) { _ in .status(503) }
        for _ in 0..<6 { _ = try await client.send(.urgent) }
        let sent = transport.requestCount

        for _ in 0..<20 { #expect(try await client.send(.urgent).status == 503) }

        #expect(transport.requestCount >= sent + 20)
    }

    @Test func `no request is dropped if only one endpoint responds with 503 at every server`() async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.url.text.hasSuffix("odd") ? .status(503, headers: ["Retry-After": "30"]) : .status(200)
        }

        for number in 0..<200 {
            var configuration = APIConfiguration(path: number % 5 == 0 ? "odd" : "list")
            configuration.priority = [.low, .normal, .high][number % 3]
            #expect(try await client.send(configuration).status == (number % 5 == 0 ? 503 : 200))
        }

        #expect(transport.requestCount <= 214)
        #expect(client.currentServer == "primary")
    }

    @Test func `a 429 is returned to the app and does not affect other requests`() async throws {
        let (client, transport) = try NetworkClient.stubbed { request in
            request.url.text.hasSuffix("odd") ? .status(429, headers: ["Retry-After": "30"]) : .status(200)
        }

        for number in 0..<100 {
            let status = try await client.send(APIConfiguration(path: number < 6 ? "odd" : "list")).status
            #expect(status == (number < 6 ? 429 : 200))
        }

        #expect(transport.requests.allSatisfy { $0.server == "primary" })
    }

    @Test func `a 429 fails over to the next server if the policy counts it as overload`() async throws {
        var policy = SwitchPolicy.recommended
        policy.tooManyRequests = .overload
        let (client, _) = try NetworkClient.stubbed(switching: policy) { request in
            request.server == "primary" ? .status(429) : .status(200)
        }

        for _ in 0..<50 { #expect(try await client.send(APIConfiguration(path: "list")).status == 200) }
    }

    @Test func `while every server is overloaded, a policy can drop some requests of normal priority too`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed(switching: .shedding, servers: 2) { _ in .status(503) }
        for _ in 0..<6 { _ = try await client.send(.urgent) }
        let sent = transport.requestCount
        var reasons: [RequestFailure.Reason?] = []

        for _ in 0..<100 { reasons.append(await client.failure(of: APIConfiguration(path: "list"))) }

        let shed = reasons.count { $0 == .overloaded }
        #expect((40...90).contains(shed))
        #expect(transport.requestCount >= sent + 100 - shed)
    }

    @Test func `two 503 responses do not yet count as overload`() async throws {
        let (client, _) = try NetworkClient.stubbed(servers: 2) { _ in .status(503) }

        for _ in 0..<2 { #expect(try await client.send(APIConfiguration(path: "list")).status == 503) }
    }

    @Test func `no request is dropped because of overload while one server is healthy`() async throws {
        let (client, _) = try NetworkClient.stubbed(servers: 2) { $0.server == "primary" ? .status(503) : .status(200) }
        var background = APIConfiguration(path: "list")
        background.priority = .low

        for _ in 0..<50 { #expect(try await client.send(background).status == 200) }
    }

    @Test func `a connection to the first fallback server is opened in advance`() async throws {
        let clock = ManualClock()
        let (client, transport) = try NetworkClient.stubbed(time: clock) { _ in .status(200) }

        for _ in 0..<4 {
            _ = try await client.send(APIConfiguration(path: "list"))
            clock.advance(by: .seconds(10))
        }

        #expect(transport.requests.count { $0.server == "primary" } == 4)
        #expect(transport.requests.count { $0.server == "secondary" } == 1)
        #expect(transport.requests.allSatisfy { $0.method == .get })
    }

    @Test func `each installation of the app always uses the same fallback server, and all fallback servers are used`()
        async throws
    {
        var fallbacks: Set<String> = []
        for installation in 0..<12 as Range<UInt64> {
            let first = try await fallback(of: installation)
            #expect(try await fallback(of: installation) == first)
            fallbacks.insert(first)
        }

        #expect(fallbacks == ["secondary", "tertiary"])
    }

    private func fallback(of installation: UInt64) async throws -> String {
        let transport = StubTransport { request in
            request.server == "primary" ? .failure(.connectionRefused) : .status(200)
        }
        let client = try NetworkClient(
            service: .topics(),
            transport: transport,
            options: NetworkClient.Options(installation: installation)
        )
        return try #require(try await client.send(APIConfiguration(path: "list")).context.server)
    }
}

extension SwitchPolicy {
    /// A policy that drops requests of normal priority too.
    fileprivate static var shedding: SwitchPolicy {
        var policy = SwitchPolicy.recommended
        policy.admission?.sheds = .normal
        return policy
    }
}

extension APIConfiguration {
    /// A read that is never dropped.
    fileprivate static var urgent: APIConfiguration {
        var configuration = APIConfiguration(path: "list")
        configuration.priority = .high
        return configuration
    }
}
