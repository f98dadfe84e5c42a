import Foundation
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// An answer whose body fails is an answer for want of a better one: another server may have it whole.
@Suite(.timeLimit(.minutes(5)), .prompt) struct BrokenAnswerTests {
    private static let broken = "X-Server: 1\r\nContent-Length: 90\r\n\r\n{\"detail\":"
    private static let whole = #"{"detail":"whole"}"#

    /// Sends a call to two servers, of which the first one breaks its answer off.
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
        // On a busy machine an answer may be late enough for a hedge, of which this is not.
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        let client = try NetworkClient(service: .loopback(servers, switching: policy))
        defer { client.shutdown() }
        let answer = try await client.send(APIConfiguration(path: "any", method: method))
        return (answer, servers.map { $0.requests.count { $0.method == method } })
    }

    @Test(arguments: [400, 401, 404, 422])
    func `a read is answered by the server that has the answer whole`(status: Int) async throws {
        let (answer, counts) = try await answer(status, second: .json(Self.whole, status: status))

        #expect(answer.status == status)
        #expect(answer.text == Self.whole)
        #expect(answer.response.bodyFailure == nil)
        #expect(counts == [1, 1])
    }

    @Test func `where every server breaks it off the status is the answer`() async throws {
        let (answer, counts) = try await answer(
            404,
            second: .raw(Data("HTTP/1.1 404 Any\r\n\(Self.broken)".utf8))
        )

        #expect(answer.status == 404)
        #expect(answer.response.bodyFailure?.kind == .truncated)
        #expect(counts == [1, 1])
    }

    @Test func `a write stays with the server that has answered it`() async throws {
        let (answer, counts) = try await answer(422, second: .json(Self.whole, status: 422), method: .post)

        #expect(answer.status == 422)
        #expect(answer.headers["X-Server"] == "1")
        #expect(counts == [1, 0])
    }

    @Test func `a quota is asked for nowhere else`() async throws {
        let (answer, counts) = try await answer(429, second: .json(Self.whole))

        #expect(answer.status == 429)
        #expect(counts == [1, 0])
    }
}
