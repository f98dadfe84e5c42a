import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct StickySessionTests {
    private static func call(of session: String?) -> APIConfiguration {
        var configuration = APIConfiguration(path: "list")
        configuration.session = session
        return configuration
    }

    private static func client(
        _ answer: @escaping @Sendable (HTTPRequest) -> StubResponse = { _ in .status(200) }
    ) throws -> NetworkClient {
        var policy = SwitchPolicy.recommended
        policy.selection = .sticky
        return try NetworkClient.stubbed(switching: policy, answer).client
    }

    @Test func `the calls of one session go to one server, and sessions spread over all servers`() async throws {
        let client = try Self.client()
        var servers: Set<String> = []
        for session in 0..<20 {
            let first = try await client.send(Self.call(of: "\(session)")).context.server
            #expect(try await client.send(Self.call(of: "\(session)")).context.server == first)
            if let first { servers.insert(first) }
        }

        #expect(servers == ["primary", "secondary", "tertiary"])
        #expect(try await client.send(Self.call(of: nil)).context.server == "primary")
    }

    @Test func `a session whose server is dead uses the same other server for all its calls`() async throws {
        let client = try Self.client { $0.server == "primary" ? .failure(.connectionRefused) : .status(200) }
        for session in 0..<20 {
            let first = try await client.send(Self.call(of: "\(session)")).context.server
            #expect(first != "primary")
            #expect(try await client.send(Self.call(of: "\(session)")).context.server == first)
        }
    }
}
