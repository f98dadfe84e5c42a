import Dispatch
import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient

@Suite(.timeLimit(.minutes(5)), .prompt) struct ReachabilityTests {
    @Test func `every reachability status except notReachable counts as reachable`() {
        let kinds = ReachabilityStatus.Link.allCases.map(ReachabilityStatus.reachable)

        #expect(ReachabilityStatus.unknown.isReachable)
        #expect(kinds.filter(\.isReachable).count == kinds.count)
        #expect(!ReachabilityStatus.notReachable.isReachable)
    }

    @Test func `every reachability status has a text in two languages`() {
        let all = [ReachabilityStatus.unknown, .notReachable] + ReachabilityStatus.Link.allCases.map { .reachable($0) }

        #expect(Set(all.map { $0.text() }).count == all.count)
        #expect(Set(all.map { $0.text(inSimplifiedChinese: true) }).count == all.count)
    }

    @Test func `a reachability monitor reports the current status and every change until it is stopped`() async {
        let network = ManualReachability(.unknown)
        let monitor = ReachabilityMonitor(network)
        let (statuses, continuation) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let queue = DispatchQueue(label: "reachability")
        monitor.start(on: queue) { status in
            dispatchPrecondition(condition: .onQueue(queue))
            continuation.yield(status)
        }
        var seen = statuses.makeAsyncIterator()
        #expect(await seen.next() == .unknown)

        network.status = .notReachable
        #expect(await seen.next() == .notReachable)
        #expect(!monitor.isReachable)
        network.status = .notReachable
        network.status = .reachable(.cellular)
        #expect(await seen.next() == .reachable(.cellular))

        monitor.stop()
        #expect(monitor.status == .reachable(.cellular))

        // When the second observer has received the change, the first one would have received it too.
        network.status = .notReachable
        let (others, other) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let second = ReachabilityMonitor(network)
        second.start(on: queue) { other.yield($0) }
        #expect(await others.first { _ in true } == .notReachable)
        queue.sync {}
        continuation.finish()
        #expect(await seen.next() == nil)
    }

    @Test func `a reachability monitor calls its handler on the main queue by default`() async {
        let monitor = ReachabilityMonitor(ManualReachability(.notReachable))

        let status = await withCheckedContinuation { continuation in
            monitor.start { status in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: status)
            }
        }

        #expect(status == .notReachable)
        monitor.stop()
    }

    @Test func `a reachability monitor posts a notification for every status after its handler ran`() async {
        let network = ManualReachability(.notReachable)
        let monitor = ReachabilityMonitor(network)
        let center = NotificationCenter()
        let (heard, continuation) = AsyncStream.makeStream(of: String.self)
        let token = center.addObserver(forName: .switchyardReachabilityDidChange, object: nil, queue: nil) { note in
            continuation.yield("posted \(note.reachabilityStatus?.text() ?? "nothing")")
        }
        monitor.start(on: DispatchQueue(label: "reachability"), posting: center) { status in
            continuation.yield("told \(status.text())")
        }
        var iterator = heard.makeAsyncIterator()

        #expect(await iterator.next() == "told Not reachable")
        #expect(await iterator.next() == "posted Not reachable")
        network.status = .reachable(.local)
        #expect(await iterator.next() == "told Reachable via WiFi or Ethernet")
        #expect(await iterator.next() == "posted Reachable via WiFi or Ethernet")
        monitor.stop()
        center.removeObserver(token)
    }

    @Test func `concurrent changes of the reachability are reported in the order in which they were made`() async {
        for _ in 0..<2_000 {
            let board = ReachabilityBroadcaster()
            let updates = board.updates()
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                board.status = index == 0 ? .notReachable : .reachable(.local)
            }

            var last = ReachabilityStatus.unknown
            var heard = updates.makeAsyncIterator()
            for _ in 0..<3 { last = await heard.next() ?? last }
            #expect(last == board.status)
        }
    }

    @Test func `the system's reachability provider returns a status and can be released`() {
        for _ in 0..<20 {
            let system = SystemReachability()
            _ = system.status
            _ = system.updates()
        }
    }

    @Test func `a request without a network fails immediately and is not sent`() async throws {
        let network = ManualReachability(.notReachable)
        let (client, transport) = try NetworkClient.limited([ReachabilityLimit(network)])

        guard case .transport(let error) = await client.failure(of: .path("a")) else {
            Issue.record("expected a transport error")
            return
        }
        #expect(error.kind == .offline)
        #expect(!error.mayHaveBeenSent)
        #expect(transport.requestCount == 0)

        network.status = .unknown
        #expect(await client.failure(of: .path("a")) == nil)
    }

    @Test func `requests ignore the network status unless the app adds a ReachabilityLimit`() async throws {
        let network = ManualReachability(.notReachable)
        let (client, transport) = try NetworkClient.limited([])
        let follower = client.following(network)

        #expect(await client.failure(of: .path("a")) == nil)
        #expect(transport.requestCount == 1)
        follower.stop()
    }

    @Test func `a request may wait for the network up to a time limit`() async throws {
        let network = ManualReachability(.notReachable)
        let clock = ManualClock()
        let limit = ReachabilityLimit(network, whenOffline: .wait(atMost: .seconds(5)))
        let (client, transport) = try NetworkClient.limited([limit], time: clock)

        let lucky = Task { await client.failure(of: .path("a")) }
        await clock.waitForTimers(1, in: .seconds(5))
        network.status = .reachable(.local)
        #expect(await lucky.value == nil)

        network.status = .notReachable
        let unlucky = Task { await client.failure(of: .path("b")) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(5))
        guard case .transport(let error) = await unlucky.value else {
            Issue.record("expected a transport error")
            return
        }
        #expect(error.kind == .offline)
        #expect(transport.requestCount == 1)
    }

    @Test func `while the network is not reachable, failed requests do not count against servers`() async throws {
        let network = ManualReachability(.notReachable)
        let (client, _) = try NetworkClient.stubbed(switching: .recommended) { _ in .failure(.connectionRefused) }
        let follower = client.following(network)
        await until { client.core.state.withLock { $0.isOffline } }

        for _ in 0..<20 { _ = await client.failure(of: .path("a")) }

        #expect(client.servers.map(\.state) == [.healthy, .healthy, .healthy])
        #expect(client.servers.allSatisfy { $0.statistics.failures == 0 })
        follower.stop()
    }

    @Test
    func `the reachability provider of a client stays alive until the object that follows the network is released`()
        async throws
    {
        let (client, _) = try NetworkClient.stubbed { _ in .status(200) }
        var network: ManualReachability? = ManualReachability(.notReachable)
        weak var kept: ManualReachability?
        kept = network
        var follower = network.map { client.following($0) }

        network = nil
        #expect(kept != nil)
        withExtendedLifetime(follower) {}

        follower = nil
        await until { kept == nil }
    }
}
