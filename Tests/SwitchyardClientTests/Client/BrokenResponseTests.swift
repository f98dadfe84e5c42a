import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// An error response is returned even if its body is truncated.
///
/// Trying another server could only be slower than a client without switching.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BrokenResponseTests {
    private static let broken = "X-Server: 1\r\nContent-Length: 90\r\n\r\n{\"detail\":"
    private static let whole = #"{"detail":"whole"}"#

    /// Sends a call to two servers, of which the first one truncates its response.
    private func answer(
        _ status: Int,
        second: LoopbackResponse,
        method: HTTPMethod = .get
    ) async throws -> (ServiceResponse, [Int]) {
        let servers = [LoopbackServer(), LoopbackServer()]
        servers[0].setDefaultRoute { _ in .raw(Data("HTTP/1.1 \(status) Any\r\n\(Self.broken)".utf8)) }
        servers[1].setDefaultRoute { _ in second }
        for server in servers { try server.start() }
        defer { for server in servers { server.stop() } }
        // Disables hedging, because a response on a busy machine may be slow enough to start a hedge.
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        let client = try NetworkClient(service: .loopback(servers, switching: policy))
        defer { client.shutdown() }
        let answer = try await client.send(APIConfiguration(path: "any", method: method))
        return (answer, servers.map { $0.requests.count { $0.method == method } })
    }

    @Test(arguments: [HTTPMethod.get, .post], [400, 401, 404, 422, 429])
    func `a truncated 4xx or 5xx response is returned, and no other server is tried`(method: HTTPMethod, status: Int)
        async throws
    {
        let (answer, counts) = try await answer(status, second: .json(Self.whole, status: status), method: method)

        #expect(answer.status == status)
        #expect(answer.headers["X-Server"] == "1")
        #expect(answer.response.bodyFailure?.kind == .truncated)
        #expect(counts == [1, 0])
    }

    @Test func `a read that got a 500 is sent to the next server even if the body was truncated`() async throws {
        let (answer, counts) = try await answer(500, second: .json(Self.whole))

        #expect(answer.status == 200)
        #expect(answer.text == Self.whole)
        #expect(counts == [1, 1])
    }
}
