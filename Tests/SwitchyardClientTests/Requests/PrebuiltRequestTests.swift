import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Prebuilt requests are sent unchanged, and their own method decides about repetition.
@Suite(.timeLimit(.minutes(5)), .prompt) struct PrebuiltRequestTests {
    private func configuration(_ method: HTTPMethod) throws -> APIConfiguration {
        var configuration = APIConfiguration()
        configuration.prebuiltRequest = HTTPRequest(
            method: method,
            url: try RequestURL(validating: "https://o.example/x")
        )
        return configuration
    }

    private func client(
        _ answer: StubResponse,
        retry policy: RetryPolicy? = RetryPolicy(backoff: .constant(.zero))
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        try NetworkClient.stubbed(options: { $0.retry = policy }) { _ in answer }
    }

    @Test(arguments: [HTTPMethod.post, .patch])
    func `a write that is a prebuiltRequest is sent once`(method: HTTPMethod) async throws {
        for answer in [StubResponse.status(503), .failure(.connectionReset)] {
            let (client, transport) = try client(answer)

            _ = await client.result(of: try configuration(method))

            #expect(transport.requestCount == 1)
        }
    }

    @Test func `an idempotency key that a prebuiltRequest does not send does not allow a retry`() async throws {
        let (client, transport) = try client(.status(503))
        var configuration = try configuration(.post)
        configuration.idempotencyKey = .automatic

        _ = await client.result(of: configuration)

        #expect(transport.requestCount == 1)
    }

    @Test func `a write that is a prebuiltRequest is repeated if the app sets mayBeRepeated`() async throws {
        let (client, transport) = try client(.status(503))
        var configuration = try configuration(.post)
        configuration.mayBeRepeated = true

        _ = await client.result(of: configuration)

        #expect(transport.requestCount == 3)
    }

    @Test func `a retry policy for some methods checks the method that is sent`() async throws {
        let policy = RetryPolicy(backoff: .constant(.zero), methods: [.get])
        let (client, transport) = try client(.status(500), retry: policy)

        _ = await client.result(of: try configuration(.put))

        #expect(transport.requestCount == 1)
    }

    @Test func `a failure names the method that was sent`() async throws {
        let (client, _) = try client(.failure(.connectionReset), retry: nil)

        let result = await client.result(of: try configuration(.post))

        guard case .failure(let failure) = result else {
            Issue.record("expected a failure")
            return
        }
        #expect(failure.context.method == .post)
    }

    @Test func `a prebuiltRequest can be streamed`() async throws {
        let lab = try DownloadLab()
        let gate = lab.serveLive()
        // A response that is not streamed would wait for the gate until the timeout.
        var configuration = APIConfiguration(timeout: .seconds(240))
        configuration.prebuiltRequest = HTTPRequest(url: try RequestURL(validating: "\(lab.server.baseURL)/live"))

        var pieces = try await lab.client.stream(configuration).bytes.makeAsyncIterator()
        let first = try await pieces.next()
        gate.yield()

        #expect(first == Data("one".utf8))
        #expect(try await pieces.next() == Data("two".utf8))
    }
}
