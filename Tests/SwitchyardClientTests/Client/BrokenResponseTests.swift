import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// An error whose body fails is a response all the same: to ask another server could only be slower than what a client
/// without switching has.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BrokenResponseTests {
    private static let broken = "X-Server: 1\r\nContent-Length: 90\r\n\r\n{\"detail\":"
    private static let whole = #"{"detail":"whole"}"#

    /// Sends a call to two servers, of which the first one breaks its response off.
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
        // On a busy machine a response may be late enough for a hedge, of which this is not.
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        let client = try NetworkClient(service: .loopback(servers, switching: policy))
        defer { client.shutdown() }
        let answer = try await client.send(APIConfiguration(path: "any", method: method))
        return (answer, servers.map { $0.requests.count { $0.method == method } })
    }

    @Test(arguments: [HTTPMethod.get, .post], [400, 401, 404, 422, 429])
    func `its status is the response, and no other server is asked`(method: HTTPMethod, status: Int) async throws {
        let (answer, counts) = try await answer(status, second: .json(Self.whole, status: status), method: method)

        #expect(answer.status == status)
        #expect(answer.headers["X-Server"] == "1")
        #expect(answer.response.bodyFailure?.kind == .truncated)
        #expect(counts == [1, 0])
    }

    @Test func `a read that failed at the server is asked of the next one, whatever became of the body`() async throws {
        let (answer, counts) = try await answer(500, second: .json(Self.whole))

        #expect(answer.status == 200)
        #expect(answer.text == Self.whole)
        #expect(counts == [1, 1])
    }
}
