import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A 401 from another origin does not affect a credential that the origin has not received.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ForeignRefusalTests {
    /// Sends a call to a server at `api.test` that redirects to `target`.
    ///
    /// All other servers respond with 401.
    private static func refusal(
        of configuration: APIConfiguration,
        pointingTo target: String? = nil
    ) async throws -> (answer: ServiceResponse, refreshes: Int, requests: [HTTPRequest]) {
        let server = Server(
            name: "primary",
            baseURLs: [.test: try ServerURL("http://api.test")],
            cdnURLs: [.test: try ServerURL("http://cdn.test")]
        )
        let service = try Service(name: "films", servers: [server], defaultEnvironment: "test", switching: .off)
        let refreshes = Locked(0)
        let credentials = Credentials { _ in
            refreshes.withLock { $0 += 1 }
            return .bearer("new")
        }
        credentials.set(.bearer("old"), in: .test)
        let transport = StubTransport { request in
            guard request.url.text == "http://api.test/a", let target else { return .status(401) }
            return .status(302, headers: ["Location": target])
        }
        let client = try NetworkClient(service: service, transport: transport) {
            $0.credentials = credentials
            $0.insecureHTTP = .allowed
        }
        let answer = try await client.send(configuration)
        return (answer, refreshes.withLock { $0 }, transport.requests)
    }

    @Test(arguments: ["http://other.test/b", "http://api.test:8080/b", "http://cdn.test/b"])
    func `a 401 from another origin after a redirect starts no credential refresh`(target: String) async throws {
        let end = try await Self.refusal(of: APIConfiguration(path: "a"), pointingTo: target)

        #expect(end.answer.status == 401)
        #expect(end.refreshes == 0)
        #expect(end.requests.map { $0.headers["Authorization"] } == ["Bearer old", nil])
    }

    @Test func `a 401 from a URL outside the service starts no credential refresh`() async throws {
        let end = try await Self.refusal(of: APIConfiguration(path: "http://other.test/b"))

        #expect(end.answer.status == 401)
        #expect(end.refreshes == 0)
    }

    @Test func `a 401 from a CDN starts no credential refresh`() async throws {
        var configuration = APIConfiguration(path: "b")
        configuration.usesCDN = true

        let end = try await Self.refusal(of: configuration)

        #expect(end.answer.status == 401)
        #expect(end.refreshes == 0)
    }

    @Test(arguments: ["Bearer", "Digest realm=r, nonce=n"])
    func `a challenge from a URL outside the service gets no password, and its 401 is returned`(
        challenge: String
    ) async throws {
        let (client, transport) = try NetworkClient.stubbed(options: {
            $0.credentials = Credentials(.digest(user: "u", password: "p"))
        }) { _ in .status(401, headers: ["WWW-Authenticate": challenge]) }

        let answer = try await client.send(APIConfiguration(path: "https://other.test/b"))

        #expect(answer.status == 401)
        #expect(transport.requestCount == 1)
    }

    @Test(arguments: ["/b", "https://api.test/b"])
    func `a 401 from the credential's own origin after a redirect starts a refresh`(target: String) async throws {
        let end = try await Self.refusal(of: APIConfiguration(path: "a"), pointingTo: target)

        #expect(end.answer.status == 401)
        #expect(end.refreshes == 1)
    }
}
