import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// The error description of a call without a credential.
@Suite(.timeLimit(.minutes(5)), .prompt) struct MissingCredentialTests {
    private static func error(settingIn environments: [ServiceEnvironment]) async throws -> APIError {
        let credentials = Credentials()
        for environment in environments { credentials.set(.bearer("secret"), in: environment) }
        let (client, transport) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { _ in
            .status(200)
        }
        let error = try #require(
            await #expect(throws: APIError.self) { try await TopicAPI(client: client).topic(7) }
        )
        #expect(transport.requests.isEmpty)
        return error
    }

    @Test func `the error for a missing credential names the environments in which credentials are set`() async throws {
        let error = try await Self.error(settingIn: ["release", "develop"])

        #expect(error.reason == .security(.loginRequired))
        #expect(
            (error.context.underlying as? RequestFailure)?.reason
                == .credentials(.setElsewhere(["develop", "release"]))
        )
        let advice = "no credentials in this environment; credentials are set in develop, release"
        #expect(error.description.contains(advice))
        #expect(!error.description.contains("secret"))
    }

    @Test func `the error for a missing credential advises a login if no environment has a credential`() async throws {
        let error = try await Self.error(settingIn: [])

        #expect(error.description.contains("security: loginRequired: no credentials: log in"))
    }

    @Test func `the description of a deadline error is a sentence`() {
        #expect(APIError(.limited(.deadline)).description.hasSuffix("limited: no response within the deadline"))
    }

    @Test(arguments: [(TransportError(.timeout, message: "slow") as any Error, false), (Refusal(), true)])
    func `the description of an APIError names the underlying error only if it comes from another library`(
        error: any Error,
        isNamed: Bool
    ) {
        #expect(APIError(error).description.contains("underlying") == isNamed)
    }

    private struct Refusal: Error {}
}
