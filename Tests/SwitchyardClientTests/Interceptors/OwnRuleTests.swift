import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// An app's own rules, called by its tests with the values that a client would pass.
@Suite struct OwnRuleTests {
    private let description = RequestContext(service: "topics", environment: .test, method: .get)

    @Test func `a DispatchContext that is created in a test has the given round and remaining time`() {
        let clock = ManualClock()
        let answer = ServiceResponse(id: RequestID(), response: HTTPResponse(status: 503), context: description)
        let first = DispatchContext.RoundRecord(.success(answer), round: 1)

        let context = DispatchContext(
            service: "topics",
            environment: .test,
            deadline: .seconds(10),
            history: [first],
            time: clock
        )
        clock.advance(by: .seconds(4))

        #expect(context.round == 2)
        #expect(context.retries == 1)
        #expect(context.remaining == .seconds(6))
        #expect(context.history.map(\.status) == [503])
    }

    @Test func `a redirect policy can be called with a proposal created in a test`() throws {
        let home = try RequestURL(validating: "https://api.example.com/topics")
        let elsewhere = try RequestURL(validating: "https://cdn.example.net/topics")
        let decide: RedirectPolicy.Decide = { proposal in
            if case .some(let step) = proposal.steps.last, step.from == proposal.url { .refuse } else { .follow }
        }
        let (response, next) = (HTTPResponse(status: 302), HTTPRequest(url: elsewhere))
        let step = RedirectStep(status: 302, from: home, to: elsewhere, method: .get)

        let first = decide(RedirectPolicy.Proposal(response: response, url: home, request: next))
        let second = decide(RedirectPolicy.Proposal(response: response, url: home, request: next, steps: [step]))

        #expect("\(first)" == "follow")
        #expect("\(second)" == "refuse")
    }

    @Test func `a test can call the refresh method of a provider without a rejected request`() async throws {
        struct Provider: CredentialProvider {
            func refresh(_ refresh: CredentialRefresh) async throws -> Credential? {
                let answer = try await refresh.client.send(APIConfiguration(path: "token", method: .post))
                return answer.status == 200 ? Credential(.bearer(token: "new")) : nil
            }
        }
        let transport = StubTransport { request in .status(request.url.path.hasSuffix("/token") ? 200 : 404) }
        let server = try Server(name: "primary", baseURLs: [.test: ServerURL("https://api.example.com")])
        let service = try Service(name: "topics", servers: [server], defaultEnvironment: .test)
        let client = try NetworkClient(service: service, transport: transport)

        let new = try await Provider().refresh(CredentialRefresh(credential: nil, environment: .test, client: client))

        #expect(new == Credential(.bearer(token: "new")))
    }
}
