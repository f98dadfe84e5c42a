import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A refresh token that rotates is spent when it is sent: what cancels every request leaves a renewal alone.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RenewalCancellationTests {
    /// What cancels every request.
    enum Cancellation: CaseIterable {
        case all, ofReset, ofSwitch

        func carryOut(on client: NetworkClient) throws {
            switch self {
            case .all: client.cancelAll()
            case .ofReset: try client.reset()
            case .ofSwitch: try client.switchEnvironment(to: .release, cancelsActiveRequests: true)
            }
        }
    }

    /// A call whose token is being renewed just now, by a server that takes a second.
    private struct Renewal {
        let clock = ManualClock()
        let client: NetworkClient
        let credentials: Credentials
        let call: Task<Result<ServiceResponse, RequestFailure>, Never>
        var events: AsyncStream<CredentialEvent>.Iterator

        init(streams: Bool = false) async throws {
            let credentials = Credentials { renewal in
                let token = APIConfiguration(path: "token", method: .post)
                if streams {
                    for try await _ in try await renewal.client.stream(token).bytes {}
                } else {
                    _ = try await renewal.client.send(token)
                }
                return .bearer("new")
            }
            credentials.set(.bearer("old"), in: .test)
            events = credentials.events().makeAsyncIterator()
            let (client, _) = try NetworkClient.stubbed(options: { $0.credentials = credentials }) { [clock] request in
                if request.url.text.hasSuffix("token") { return .delayed(by: .seconds(1), on: clock, .status(200)) }
                return request.headers["Authorization"] == "Bearer old" ? .status(401) : .status(200)
            }
            call = Task { await client.result(of: APIConfiguration(path: "list")) }
            self.client = client
            self.credentials = credentials
            await clock.waitForTimers(1)
        }
    }

    @Test(arguments: Cancellation.allCases, [false, true])
    func `a token that is being renewed is kept when all requests are cancelled`(
        by way: Cancellation,
        streams: Bool
    ) async throws {
        var renewal = try await Renewal(streams: streams)

        try way.carryOut(on: renewal.client)
        let result = await renewal.call.value
        renewal.clock.advance(by: .seconds(1))

        #expect(throws: RequestFailure.self) { try result.get() }
        #expect(await renewal.events.next()?.kind == .renewed)
        #expect(renewal.credentials.credential(in: .test) == .bearer("new"))
    }

    @Test(arguments: [false, true])
    func `a renewal is not among the active requests, and is waited for`(streams: Bool) async throws {
        var renewal = try await Renewal(streams: streams)
        let before = renewal.client.activeRequests.count
        renewal.client.cancelAll()
        let idle = Task { [client = renewal.client] in await client.waitUntilIdle() }

        #expect(before == 1 && renewal.client.activeRequests.isEmpty)
        renewal.clock.advance(by: .seconds(1))
        #expect(await idle.value)
        #expect(await renewal.events.next()?.kind == .renewed)
    }

    @Test func `a shutdown ends a renewal`() async throws {
        var renewal = try await Renewal()

        renewal.client.shutdown()

        guard case .failed(.renewalFailed) = await renewal.events.next()?.kind else {
            Issue.record("the renewal went on")
            return
        }
    }
}
