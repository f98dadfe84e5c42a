import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardServerLists

/// Lists from real servers that change the servers of a real client.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerListTests {
    private let topics = APIConfiguration(path: "topics")

    @Test func `a client whose three built-in servers are dead finds the fourth server through a list`() async throws {
        let lab = try ListLab(servers: 3)
        let fourth = try ListLab.topicServer()
        defer { fourth.stop() }
        let lists = try ListServer(lab.document([fourth]))
        let list = try lab.list(from: [lists.url])
        let events = list.events()
        for server in lab.servers { server.fault = .refuse }

        #expect(await lab.client.failure(of: topics) != nil)
        let event = await events.first(\.isApplied)
        let response = try await lab.client.send(topics)

        #expect(response.status == 200)
        #expect(fourth.requests.map(\.path) == ["/topics"])
        let difference = ServerListDifference(from: [], to: [])
        if case .applied(7, let found) = event {
            #expect(found.added == ["a"])
            #expect(found.removed == ["primary", "secondary", "tertiary"])
            #expect(found != difference)
        } else {
            Issue.record("\(String(describing: event))")
        }
        #expect(list.status.version == 7)
    }

    @Test func `a call that is retried succeeds at a server of the new server list`() async throws {
        let lab = try ListLab()
        let other = try ListLab.topicServer()
        defer { other.stop() }
        let lists = try ListServer(lab.document([other]))
        let list = try lab.list(from: [lists.url])
        let events = list.events()
        lab.servers[0].fault = .refuse
        var call = topics
        call.retry = RetryPolicy(maximumRetries: 1)

        async let response = lab.client.send(call)
        #expect(await events.first(\.isApplied) != nil)
        // The deadline and the pause of the call, and the next fetch.
        await lab.clock.waitForTimers(3)
        lab.clock.advance(to: try #require(lab.clock.nextDeadline))

        #expect(try await response.status == 200)
        #expect(other.requests.count == 1)
    }

    @Test func `the stored server list is in use when the initializer returns, even if no list server responds`()
        async throws
    {
        let lab = try ListLab()
        let other = try ListLab.topicServer()
        defer { other.stop() }
        let lists = try ListServer(lab.document([other]))
        #expect(try await lab.list(from: [lists.url]).refresh())
        lists.server.stop()

        let relaunched = try ListLab(folder: lab.folder)
        let list = try relaunched.list(from: [lists.url])

        #expect(relaunched.client.service.servers.map(\.name) == ["a"])
        #expect(list.status.version == 7)
        #expect(await !list.refresh())
        #expect(list.status.version == 7)
        #expect(try await relaunched.client.send(topics).status == 200)
    }

    @Test func `failures of servers during a long fetch of a server list cause one more fetch afterwards`()
        async throws
    {
        let time = Locked<CountingTime?>(nil)
        let lab = try ListLab { clock in
            let counting = CountingTime(clock)
            time.withLock { $0 = counting }
            return counting
        }
        let counting = try #require(time.withLock { $0 })
        let (isRequested, mayRespond) = (Latch(), Latch())
        let (lists, document) = (try ListServer(Data()), try lab.document(lab.servers))
        lists.server.route(.get, "/list.json") { _ in
            isRequested.open()
            await mayRespond.wait()
            return .json(document)
        }
        let list = try lab.list(from: [lists.url])
        let events = list.events()
        let fetch = Task { await list.refresh() }
        await isRequested.wait()
        lab.servers[0].fault = .refuse

        #expect(await lab.client.failure(of: topics) != nil)
        await lab.client.waitUntilIdle()
        let count = counting.count
        lab.clock.advance(by: .seconds(60))
        for _ in 0..<10_000 { await Task.yield() }
        mayRespond.open()

        #expect(await fetch.value)
        #expect(await events.first { $0 == .unchanged(version: 7) } != nil)
        #expect(lists.requestCount == 2)
        #expect(counting.count - count < 100)
    }

    @Test func `a server list that has not changed is not sent again, even after a restart of the app`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        #expect(await list.refresh())
        let events = list.events()

        #expect(await list.refresh())
        let relaunched = try ListLab(folder: lab.folder)
        #expect(try await relaunched.list(from: [lists.url]).refresh())

        #expect(await events.first { $0 == .unchanged(version: 7) } != nil)
        let tags = lists.server.requests.map { $0.headers["If-None-Match"] != nil }
        #expect(tags == [false, true, true])
    }

    @Test func `a server list that is refused changes neither the client nor the disk`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        #expect(await list.refresh())
        let (servers, file) = (lab.client.service, try Data(contentsOf: lab.folder.entries[0]))

        for document in [
            try lab.document(version: 6, lab.servers), try lab.document(version: 8, lab.servers, keys: []),
            Data("[]".utf8),
        ] {
            lists.publish(document)
            #expect(await !list.refresh())
            #expect(list.status.refusal != nil)
        }

        #expect(lab.client.service == servers)
        #expect(try Data(contentsOf: lab.folder.entries[0]) == file)
        #expect(list.status.version == 7)
        lists.publish(try lab.document(version: 8, lab.servers))
        #expect(await list.refresh())
        #expect(list.status.refusal == nil)
        #expect(list.status.version == 8)
    }

    @Test func `a server list is fetched after the start delay and then about every eight hours`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        let events = list.events()

        lab.clock.advance(by: .seconds(30))
        #expect(await events.first(\.isApplied) != nil)
        #expect(lists.requestCount == 1)
        lab.clock.advance(by: .seconds(5 * 3_600))
        #expect(lists.requestCount == 1)
        lab.clock.advance(by: .seconds(5 * 3_600))
        #expect(await events.first { $0 == .unchanged(version: 7) } != nil)
        #expect(lists.requestCount == 2)
    }

    @Test func `failures of all servers cause one fetch of the server list a minute`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        let events = list.events()
        lab.servers[0].fault = .refuse

        for _ in 0..<5 { #expect(await lab.client.failure(of: topics) != nil) }
        #expect(await events.first(\.isApplied) != nil)
        for _ in 0..<5 { #expect(await lab.client.failure(of: topics) != nil) }
        lab.clock.advance(by: .seconds(59))
        #expect(lists.requestCount == 1)
        lab.clock.advance(by: .seconds(1))
        #expect(await events.first { $0 == .unchanged(version: 7) } != nil)
        #expect(lists.requestCount == 2)
    }

    @Test(arguments: [.status(404), .status(500), .status(200)] as [LoopbackResponse])
    func `a response from a working server causes no fetch of the server list`(response: LoopbackResponse) async throws
    {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        lab.servers[0].route(.get, "/topics", answering: response)

        for _ in 0..<3 { _ = try await lab.client.send(topics) }
        await lab.client.waitUntilIdle()
        lab.clock.advance(by: .milliseconds(1))

        #expect(lists.requestCount == 0)
        #expect(list.status.version == nil)
    }

    @Test func `a change of the network path causes a fetch of the server list as soon as the network is reachable`()
        async throws
    {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        let events = list.events()

        lab.reachability.status = .notReachable
        lab.reachability.status = .reachable(.cellular)

        #expect(await events.first(\.isApplied) != nil)
        #expect(lists.requestCount == 1)
    }

    @Test func `after stop, no server list is fetched, and the client keeps its servers`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        #expect(await list.refresh())
        #expect(lab.client.clientObserverCount == 1)

        list.stop()
        lab.clock.advance(by: .seconds(86_400))

        #expect(await !list.refresh())
        #expect(lists.requestCount == 1)
        #expect(lab.client.service.servers.map(\.name) == ["a"])
        #expect(lab.client.clientObserverCount == 0)
        #expect(lab.clock.pendingTimers == 0)
        #expect(await list.events().first { _ in true } == nil)
    }

    @Test func `a server list that arrives after the updates were stopped is not applied`() async throws {
        let lab = try ListLab()
        let other = try ListLab.topicServer()
        defer { other.stop() }
        let url = try #require(RequestURL("http://127.0.0.1:1/"))
        let service = lab.client.service
        let updater = ServerListUpdater(
            lab.client,
            ServerListSource(urls: [url], transport: lab.client.transport, timeout: .seconds(1)),
            try ServerListRules(
                service: service,
                keys: [SigningKey("k1").trusted],
                hosts: ["127.0.0.1"],
                insecureHTTP: lab.client.insecureHTTP,
                grace: .zero
            ),
            ServerListStore(folder: lab.folder.url, service: service.name),
            ServerList.Options()
        )

        updater.stop()

        #expect(try await !updater.take(lab.document([other]), from: url, nil, nil))
        #expect(lab.client.service == service)
        #expect(updater.status.version == nil)
    }

    @Test func `a server list that is released stops its updates`() async throws {
        let lab = try ListLab()
        var list: ServerList? = try lab.list(from: [try #require(URL(string: "http://127.0.0.1:1/"))])
        #expect(list != nil)

        list = nil

        #expect(lab.client.clientObserverCount == 0)
        #expect(lab.clock.pendingTimers == 0)
    }

    @Test func `shutting down the client stops the updates of its server list`() async throws {
        let lab = try ListLab()
        let list = try lab.list(from: [try #require(URL(string: "http://127.0.0.1:1/"))])
        let events = list.events()

        lab.client.shutdown()

        #expect(await !list.refresh())
        #expect(await events.first { _ in true } == nil)
    }
}

/// A clock that counts how often a timer is set.
private final class CountingTime: TimeSource {
    private let clock: ManualClock
    private let timers = Locked(0)

    init(_ clock: ManualClock) { self.clock = clock }

    var count: Int { timers.withLock { $0 } }
    var now: MonotonicTime { clock.now }

    func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        timers.withLock { $0 += 1 }
        return clock.schedule(at: deadline, action)
    }
}
