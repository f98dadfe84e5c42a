import Dispatch
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

/// A request whose server fails while the request is being hedged to another server.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HangingFallbackTests {
    /// Keeps every exchange open until the test ends it.
    private final class OpenTransport: Transport, TransportTask {
        private let completions = Locked<[String: @Sendable (Result<HTTPResponse, TransportError>) -> Void]>([:])

        func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            completions.withLock { $0[request.url.text] = completion }
            return self
        }

        /// Breaks the connection of an exchange.
        func reset(_ url: String) {
            let completion = completions.withLock { $0.removeValue(forKey: url) }
            completion?(.failure(TransportError(.connectionReset, message: "reset", mayHaveBeenSent: true)))
        }

        func cancel() {}

        func shutdown() {}
    }

    @Test func `a request ends at its deadline even if the second server hangs`() async throws {
        var policy = SwitchPolicy.recommended
        policy.budgets.failoverTokens = 1
        let (time, transport) = (ManualClock(), OpenTransport())
        let service = try Service.topics(switching: policy)
        var options = NetworkClient.Options(seed: 1)
        // The connection to the first server is reset while the second server's request for the list is being built.
        options.generator.modifiers = [
            { if $0.url.text == "http://secondary.test/v1/list" { transport.reset("http://primary.test/v1/list") } }
        ]
        let client = try NetworkClient(service: service, transport: transport, options: options, time: time)
        let (reasons, continuation) = AsyncStream.makeStream(of: RequestFailure.Reason?.self)
        // Another request holds the only token.
        client.send(APIConfiguration(path: "other"), on: .global()) { _ in }
        transport.reset("http://primary.test/v1/other")

        client.send(APIConfiguration(path: "list", timeout: .seconds(5)), on: .global()) {
            continuation.yield($0.failure?.reason)
        }
        time.advance(by: .seconds(6))

        #expect(await reasons.first { _ in true } == .deadlineExceeded)
    }
}

extension Result where Failure == RequestFailure {
    fileprivate var failure: RequestFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
