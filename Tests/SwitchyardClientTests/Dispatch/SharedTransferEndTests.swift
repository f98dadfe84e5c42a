import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport
import Testing

@testable import SwitchyardClient

@Suite struct SharedTransferEndTests {
    typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

    /// A transport whose exchanges end only by hand, and which runs a closure when an exchange is cancelled.
    private final class HeldTransport: Transport {
        struct Exchange: TransportTask {
            let transport: HeldTransport
            let completion: Completion

            func cancel() {
                transport.whenCancelled.withLock { $0 }?()
                completion(.failure(TransportError(.cancelled, message: "cancelled")))
            }
        }

        let exchanges = Locked<[Exchange]>([])
        let whenCancelled = Locked<(@Sendable () -> Void)?>(nil)

        func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping Completion
        ) -> any TransportTask {
            let exchange = Exchange(transport: self, completion: completion)
            exchanges.withLock { $0.append(exchange) }
            return exchange
        }

        func shutdown() {}
    }

    @Test func `a call does not join a shared transfer whose last call is being cancelled`()
        throws
    {
        let transport = HeldTransport()
        let client = try NetworkClient(service: .topics(switching: .off, servers: 1), transport: transport)
        let call = SharedTransferTests.shared("list")
        let id = RequestID()
        let results = Locked<[Result<ServiceResponse, RequestFailure>]>([])
        client.dispatch(call, id: id) { _ in }
        transport.whenCancelled.withLock {
            $0 = { [client] in client.dispatch(call) { result in results.withLock { $0.append(result) } } }
        }

        client.cancel(id)
        #expect(results.withLock { $0.count } == 0)
        let exchanges = transport.exchanges.withLock { $0 }
        #expect(exchanges.count == 2)
        exchanges.last?.completion(.success(HTTPResponse(status: 200)))

        #expect(try results.withLock { $0 }.map { try $0.get().status } == [200])
    }
}
