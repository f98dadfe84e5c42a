import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

/// A request that an interceptor sends belongs to the user of the call that it intercepts.
@Suite(.timeLimit(.minutes(5)), .prompt) struct InterceptorOwnerTests {
    private enum Part: CaseIterable {
        case adapter, retrier
    }

    private let credentials = Credentials { _ in nil }
    private let gate = Gate()
    private let client = Locked<NetworkClient?>(nil)
    private let inner = Locked<[Result<ServiceResponse, RequestFailure>]>([])

    /// A client whose interceptor waits and then sends its own request.
    private func start(_ part: Part) throws -> (NetworkClient, StubTransport) {
        credentials.set(.bearer("ann"), in: .test)
        let (credentials, gate, client, inner) = (credentials, gate, client, inner)
        let ask: @Sendable (String) async -> Void = { path in
            guard path == "x", let client = client.withLock({ $0 }) else { return }
            await gate.pass()
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                client.send(APIConfiguration(path: "nonce", method: .post), on: .global()) { result in
                    inner.withLock { $0.append(result) }
                    done.resume()
                }
            }
        }
        let (made, transport) = try NetworkClient.stubbed(options: { options in
            options.credentials = credentials
            options.interceptors = [
                part == .adapter
                    ? .adapting { configuration, _ in await ask(configuration.path) }
                    : .retrying { round in
                        await ask(round.configuration.path)
                        return .accept
                    }
            ]
        }) { _ in .status(200) }
        client.withLock { $0 = made }
        return (made, transport)
    }

    @Test(arguments: Part.allCases)
    private func `a request that an interceptor sends has the user of the intercepted call`(part: Part) async throws {
        let (client, transport) = try start(part)
        let call = Task { try await client.send(APIConfiguration(path: "x")) }
        await gate.waitForArrivals(1)

        credentials.logOut(in: .test)
        credentials.set(.bearer("bob"), in: .test)
        gate.open()
        await #expect(throws: RequestFailure.self) { try await call.value }
        await until { inner.withLock { !$0.isEmpty } }

        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
        #expect(inner.withLock { $0.allSatisfy { if case .failure = $0 { true } else { false } } })
        self.client.withLock { $0 = nil }
    }

    @Test(arguments: Part.allCases)
    private func `if a call may outlive a logout, its interceptor's requests are still sent after a change of user`(
        part: Part
    )
        async throws
    {
        let (client, transport) = try start(part)
        var end = APIConfiguration(path: "x", method: .delete)
        end.outlivesLogout = true
        let call = Task { [end] in try await client.send(end) }
        await gate.waitForArrivals(1)

        credentials.set(.bearer("bob"), in: .test)
        gate.open()

        #expect(try await call.value.status == 200)
        #expect(transport.requests.count == 2)
        self.client.withLock { $0 = nil }
    }
}
