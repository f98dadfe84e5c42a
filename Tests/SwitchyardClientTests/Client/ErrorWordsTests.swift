import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Error messages for developers.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ErrorWordsTests {
    @Test func `the error for an unknown environment lists the existing environments`() throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        let error = #expect(throws: ClientError.self) { try client.switchEnvironment(to: "staging") }

        let words = "the service topics has no server in the environment staging, only in release, test"
        #expect(error.map { "\($0)" } == words)
    }

    @Test(
        arguments: [
            ("api.example.com", #"expected a URL with the scheme http or https, found "api.example.com""#),
            ("http://127.0.0.1:0", "a LoopbackServer has its port after start()"),
            ("https://a.example:70000/v1", #"a URL with a port from 1 to 65535, found "https://a.example:70000/v1""#),
            ("https://me:secret@a.example", #"found "https://***@a.example""#),
            ("https://a.example?token=secret", #"found "https://a.example?***""#),
        ]
    )
    func `the error for an invalid base URL names the problem without secrets`(text: String, words: String) {
        let problem = #expect(throws: ServerURL.Problem.self) { try ServerURL(text) }
        let error = #expect(throws: CatalogError.self) { try Service(name: "topics", baseURL: text) }

        #expect(problem?.description.contains(words) == true)
        #expect(problem?.description.contains("secret") == false)
        #expect(error.map { "\($0)" }?.contains("secret") == false)
    }

    @Test func `the error for the base URL of a loopback server names start() if the server was not started`() {
        let error = #expect(throws: CatalogError.self) {
            try Service(name: "topics", baseURL: LoopbackServer().baseURL)
        }

        #expect(error.map { "\($0)" }?.contains("after start()") == true)
    }

    @Test func `the error for rejected http names the option insecureHTTP`() async throws {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }

        let reason = await client.failure(of: APIConfiguration(path: "http://far.example.com/a"))

        #expect(reason.map { "\($0)" }?.contains("insecureHTTP") == true)
    }

    @Test func `a client with Credentials() sends no request before a login, and returns the 401 after a login`()
        async throws
    {
        let credentials = Credentials()
        let transport = StubTransport { _ in .status(401, headers: ["WWW-Authenticate": #"Basic realm="x""#]) }
        let client = try NetworkClient(service: .topics(servers: 1), transport: transport) { options in
            options.credentials = credentials
        }
        let first = await client.failure(of: APIConfiguration(path: "a"))
        #expect(first == .credentials(.missing))
        #expect(transport.requests.isEmpty)

        credentials.set(.basic(user: "ada", password: "wrong"), in: client.environment)

        #expect(try await client.send(APIConfiguration(path: "a")).status == 401)
        #expect(transport.requestCount == 1)
    }
}
