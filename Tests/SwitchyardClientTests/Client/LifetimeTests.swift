import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct LifetimeTests {
    private let endings = AsyncStream.makeStream(of: RequestFailure.Reason.self)

    private func send(through client: NetworkClient) {
        let continuation = endings.continuation
        client.send(APIConfiguration(path: "list")) { result in
            if case .failure(let failure) = result { continuation.yield(failure.reason) }
        }
    }

    private func nextEnding() async -> RequestFailure.Reason? {
        await endings.stream.first { _ in true }
    }

    @Test func `releasing the last reference to a client cancels its requests`() async throws {
        var (client, transport): (NetworkClient?, StubTransport) = try NetworkClient.stubbed { _ in .never }
        client.map(send(through:))
        #expect(await transport.waitForRequests(1))

        client = nil

        #expect(await nextEnding() == .cancelled)
        #expect(await transport.waitUntilIdle())
    }

    @Test func `releasing a scope cancels only the requests of that scope`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        var scope: NetworkClient? = client.scoped()
        scope.map(send(through:))
        send(through: client)
        #expect(await transport.waitForRequests(2))

        scope = nil

        #expect(await nextEnding() == .cancelled)
        #expect(client.activeRequests.count == 1)
    }

    @Test
    func `cancelAll of a scope cancels only the scope's requests, and cancelAll of the client cancels all requests`()
        async throws
    {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        let scope = client.scoped()
        send(through: scope)
        send(through: client)
        #expect(await transport.waitForRequests(2))

        scope.cancelAll()
        #expect(client.activeRequests.count == 1)
        client.cancelAll()

        #expect(client.activeRequests.isEmpty)
    }

    @Test func `each request to a client that was shut down fails with closed`() async throws {
        let (client, transport) = try NetworkClient.stubbed { _ in .never }
        send(through: client)
        #expect(await transport.waitForRequests(1))

        client.shutdown()
        client.shutdown()

        #expect(await nextEnding() == .closed)
        #expect(await client.failure(of: APIConfiguration(path: "list")) == .closed)
    }

    @Test func `a request releases its completion handler when it ends`() async throws {
        final class Canary: Sendable {}
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        weak var kept: Canary?

        await withCheckedContinuation { continuation in
            let canary = Canary()
            kept = canary
            client.send(APIConfiguration(path: "list")) { [canary] _ in
                continuation.resume()
                withExtendedLifetime(canary) {}
            }
        }
        _ = try await client.send(APIConfiguration(path: "list"))

        #expect(client.activeRequests.isEmpty)
        await until { kept == nil }
    }

    @Test func `a transfer releases its callbacks when it ends`() async throws {
        final class Canary: Sendable {}
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(DownloadLab.bytes(100_000)))
        lab.server.route(.post, "/up", answering: .text("ok"))
        weak var download: Canary?
        weak var upload: Canary?

        await withCheckedContinuation { continuation in
            let canary = Canary()
            download = canary
            let configuration = lab.download {
                $0.monitor = TransferMonitor()
                $0.onEvent = { _ in withExtendedLifetime(canary) {} }
            }
            lab.client.download(configuration, on: .global()) { _ in
                withExtendedLifetime(canary) {}
            } completion: { _ in
                withExtendedLifetime(canary) { continuation.resume() }
            }
        }
        await withCheckedContinuation { continuation in
            let canary = Canary()
            upload = canary
            let configuration = UploadConfiguration(path: "up", from: .data(Data(count: 100_000)))
            lab.client.upload(configuration, on: .global()) { _ in
                withExtendedLifetime(canary) {}
            } completion: { _ in
                withExtendedLifetime(canary) { continuation.resume() }
            }
        }
        await until { download == nil && upload == nil }

        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `a shutdown of one client leaves another client's requests running`() async throws {
        let (first, firstTransport) = try NetworkClient.stubbed { _ in .never }
        let (second, _) = try NetworkClient.stubbed { _ in .status(200) }
        send(through: first)
        #expect(await firstTransport.waitForRequests(1))

        second.cancelAll()
        second.shutdown()

        #expect(first.activeRequests.count == 1)
    }
}
