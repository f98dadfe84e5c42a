import Dispatch
import Foundation
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardClient

/// `waitUntilIdle` at moments when a request is just ending.
@Suite(.timeLimit(.minutes(5)), .prompt) struct IdleTests {
    /// A request whose completion blocks until the test continues.
    private func request(_ client: NetworkClient, id: RequestID = RequestID(), _ told: @escaping @Sendable () -> Void)
        -> any DispatchedRequest
    {
        let request = client.core.makeRequest(
            APIConfiguration(path: "a"),
            id: id,
            sender: ClientCore.Sender(owner: client.owner, usesCredentials: true),
            progress: nil
        ) { _ in told() }
        client.core.dispatch(request)
        return request
    }

    @Test func `waitUntilIdle waits for a completion handler that is already running`() async throws {
        let (client, _) = try NetworkClient.stubbed(switching: .off) { _ in .never }
        let (begun, goOn) = (Latch(), DispatchSemaphore(value: 0))
        let steps = Recorder<String>()
        let request = request(client) {
            begun.open()
            goOn.wait()
            steps.record("told")
        }
        DispatchQueue.global().async { request.cancel(.cancelled) }
        await begun.wait()

        let idle = Task {
            await client.waitUntilIdle()
            steps.record("idle")
        }
        await until { client.core.state.withLock { !$0.table.waiters.isEmpty } }
        goOn.signal()
        await idle.value

        #expect(steps.values == ["told", "idle"])
    }

    @Test func `a request whose completion handler is running is not listed, and its identifier can be reused`()
        async throws
    {
        let (client, _) = try NetworkClient.stubbed(switching: .off) { _ in .never }
        let (begun, goOn) = (Latch(), DispatchSemaphore(value: 0))
        let steps = Recorder<String>()
        let id = RequestID()
        let first = request(client, id: id) {
            begun.open()
            goOn.wait()
            steps.record("first")
        }
        DispatchQueue.global().async { first.cancel(.cancelled) }
        await begun.wait()
        #expect(client.activeRequests == [])
        #expect(!client.isLoading)

        let second = request(client, id: id) { steps.record("second") }
        #expect(client.activeRequests == [id])
        let idle = Task {
            await client.waitUntilIdle()
            steps.record("idle")
        }
        second.cancel(.cancelled)
        await until { client.core.state.withLock { !$0.table.waiters.isEmpty } }
        goOn.signal()
        await idle.value

        #expect(steps.values == ["second", "first", "idle"])
        #expect(client.activeRequests == [])
    }

    @Test func `waitUntilIdle returns after the completion handlers of downloads`() async throws {
        let (client, _) = try NetworkClient.stubbed(switching: .off) { _ in .chunks([Data("a".utf8)]) }
        let queue = DispatchQueue(label: "test.completions")
        let told = Locked(0)
        for count in 1...200 {
            client.download(DownloadConfiguration(path: "film"), on: queue) { result in
                told.withLock { $0 += 1 }
                if case .success(let file) = result { try? FileManager.default.removeItem(at: file.url) }
            }
            await client.waitUntilIdle()
            #expect(client.activeRequests == [])
            try #require(queue.sync { told.withLock { $0 } } == count)
        }
    }
}
