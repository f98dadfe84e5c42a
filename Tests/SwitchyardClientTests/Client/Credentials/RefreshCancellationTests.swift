import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// A rotating refresh token is used up when it is sent, so cancelling all requests does not cancel a refresh.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RefreshCancellationTests {
    /// A way to cancel all requests.
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

    /// A call whose token is being refreshed by a server that takes a second.
    private struct Refresh {
        let clock = ManualClock()
        let client: NetworkClient
        let credentials: Credentials
        let call: Task<Result<ServiceResponse, RequestFailure>, Never>
        var events: AsyncStream<CredentialEvent>.Iterator

        init(streams: Bool = false) async throws {
            let credentials = Credentials { refresh in
                let token = APIConfiguration(path: "token", method: .post)
                if streams {
                    for try await _ in try await refresh.client.stream(token).bytes {}
                } else {
                    _ = try await refresh.client.send(token)
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
    func `a credential refresh completes and its token is kept when all requests are cancelled`(
        by way: Cancellation,
        streams: Bool
    ) async throws {
        var refresh = try await Refresh(streams: streams)

        try way.carryOut(on: refresh.client)
        let result = await refresh.call.value
        refresh.clock.advance(by: .seconds(1))

        #expect(throws: RequestFailure.self) { try result.get() }
        #expect(await refresh.events.next()?.kind == .refreshed)
        #expect(refresh.credentials.credential(in: .test) == .bearer("new"))
    }

    @Test(arguments: [false, true])
    func `a credential refresh is not listed as an active request, but waitUntilIdle waits for it`(streams: Bool)
        async throws
    {
        var refresh = try await Refresh(streams: streams)
        let before = refresh.client.activeRequests.count
        refresh.client.cancelAll()
        let idle = Task { [client = refresh.client] in await client.waitUntilIdle() }

        #expect(before == 1 && refresh.client.activeRequests.isEmpty)
        refresh.clock.advance(by: .seconds(1))
        #expect(await idle.value)
        #expect(await refresh.events.next()?.kind == .refreshed)
    }

    @Test func `a shutdown cancels a credential refresh`() async throws {
        var refresh = try await Refresh()

        refresh.client.shutdown()

        guard case .failed(.refreshFailed) = await refresh.events.next()?.kind else {
            Issue.record("the refresh was not cancelled")
            return
        }
    }
}
