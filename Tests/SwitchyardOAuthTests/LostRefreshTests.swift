import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// A refresh whose response is lost is at no second server, and the outage says that the token may be spent.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LostRefreshTests {
    /// The ways in which a server executes a refresh and its response is lost.
    private static let faults: [(String, Fault)] = [
        ("reset", .resetInBody(after: 3)), ("cut", .truncate(after: 3)), ("late", .executesLate(after: .seconds(2))),
        ("pause", .pause), ("gateway", .status(503)),
    ]

    @Test func `a token refresh is not sent to a server that did not respond to the last two reads`() async throws {
        let servers = (0..<3).map { _ in LoopbackServer() }
        defer { for server in servers { server.stop() } }
        for server in servers {
            server.route(.post, "/token", answering: .json(#"{"access_token": "new", "token_type": "Bearer"}"#))
            server.route(.get, "/open", answering: .text("open"))
            server.route(.get, "/list") { request in
                request.headers["Authorization"] == "Bearer old" ? .text("", status: 401) : .text("list")
            }
            try server.start()
        }
        servers[0].fault = .hang
        let settings = OAuthSettings(clientID: "app", tokenEndpoint: "token")
        let credentials = Credentials(provider: OAuthProvider(settings))
        credentials.set(.bearer("old", refreshToken: "r"), in: .test)
        var options = NetworkClient.Options(seed: 1)
        options.credentials = credentials
        let client = try NetworkClient(service: .loopback(servers), options: options)
        defer { client.shutdown() }

        _ = try await client.send(APIConfiguration(path: "open", timeout: .seconds(60)))
        let response = try await client.send(APIConfiguration(path: "list", timeout: .seconds(60)))

        #expect(response.text == "list")
        #expect(servers[0].requests.allSatisfy { $0.method == .get })
    }

    @Test(arguments: faults.map(\.0), [false, true])
    func `a token refresh whose response is lost is sent to only one server`(name: String, retries: Bool) async throws {
        let fault = try #require(Self.faults.first { $0.0 == name }?.1)
        let spent = Locked(0)
        let servers = [LoopbackServer(), LoopbackServer()]
        for server in servers {
            server.route(.post, "/token") { _ in
                let number = spent.withLock { count in
                    count += 1
                    return count
                }
                return .json(
                    #"{"access_token": "t\#(number)", "token_type": "Bearer", "refresh_token": "r\#(number)"}"#
                )
            }
            server.route(.get, "/list") { request in
                request.headers["Authorization"] == "Bearer old" ? .text("", status: 401) : .text("list")
            }
            try server.start()
        }
        servers[0].setFault(fault, on: LoopbackRoute(.post, "/token"))
        var policy = Credentials.Policy()
        policy.timeout = .seconds(1)
        let credentials = Credentials(
            provider: OAuthProvider(OAuthSettings(clientID: "app", tokenEndpoint: "token")),
            policy: policy
        )
        credentials.set(.bearer("old", refreshToken: "r"), in: .test)
        var options = NetworkClient.Options(seed: 1)
        options.credentials = credentials
        options.retry = retries ? .standard : nil
        let client = try NetworkClient(service: .loopback(servers), options: options)

        let result = await client.result(of: APIConfiguration(path: "list", timeout: .seconds(30)))
        let asked = servers.map { $0.requests.count { $0.method == .post } }
        let stillLoggedIn = credentials.credential(in: .test) != nil
        servers[0].clearFaults()
        _ = await servers[0].waitUntilIdle()
        client.shutdown()
        for server in servers { server.stop() }

        #expect(asked[1] == 0)
        if !retries { #expect(asked[0] == 1) }
        #expect(stillLoggedIn)
        guard case .failure(let failure) = result else { return }
        guard case .credentials(let error) = failure.reason, let outage = error.outage else {
            Issue.record("\(failure)")
            return
        }
        #expect(outage.mayHaveBeenExecuted)
        #expect(!failure.mayHaveBeenExecuted)
    }
}
