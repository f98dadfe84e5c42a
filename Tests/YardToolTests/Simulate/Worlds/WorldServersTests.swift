import Switchyard
import Testing

@testable import yard

@Suite struct WorldServersTests {
    private func reply(
        _ troubles: Trouble...,
        call: Int = 0,
        server: Int = 0,
        endpoint: Int = 0,
        at time: Double = 1
    ) -> ServerReply {
        var servers = WorldServers(.sample(troubles, kinds: [.read, .read]))
        return servers.reply(to: ServerQuestion(call: call, endpoint: endpoint, server: server, time: time))
    }

    @Test func `a simulated server's response does not depend on earlier requests`() {
        let world = World(number: 5)
        let question = ServerQuestion(call: 3, endpoint: 0, server: 0, time: 2)
        var (fresh, used) = (WorldServers(world), WorldServers(world))
        for call in 0..<2 { _ = used.reply(to: ServerQuestion(call: call, endpoint: 0, server: 0, time: 1)) }

        #expect(fresh.reply(to: question) == used.reply(to: question))
    }

    @Test func `a simulated server without faults responds successfully`() {
        #expect(reply() == ServerReply(delay: 0.01, end: .answer(200, retryAfter: nil), executedAfter: 0.01))
    }

    @Test func `a simulated Trouble affects only its server, endpoint and time window`() {
        let trouble = Trouble(.status(503, retryAfter: 4), server: 1, endpoint: 1, window: .init(1, 2))

        #expect(reply(trouble, server: 1, endpoint: 1).end == .answer(503, retryAfter: 4))
        #expect(reply(trouble, server: 0, endpoint: 1).end == .answer(200, retryAfter: nil))
        #expect(reply(trouble, server: 1, endpoint: 0).end == .answer(200, retryAfter: nil))
        #expect(reply(trouble, server: 1, endpoint: 1, at: 2).end == .answer(200, retryAfter: nil))
    }

    @Test func `a simulated fault whose share is 0.3 affects about 30 % of the calls`() {
        let trouble = Trouble(.reset, share: 0.3)

        let struck = (0..<1000).count { reply(trouble, call: $0).end == .failure(.connectionReset, wasSent: true) }

        #expect((250...350).contains(struck))
    }

    @Test func `a simulated Trouble that belongs to a call affects the call on every server`() {
        var trouble = Trouble(.reset, share: 0.5)
        trouble.isOfCall = true

        let ends = (0..<2).map { server in (0..<100).map { reply(trouble, call: $0, server: server).end } }
        #expect(ends[0] == ends[1])
    }

    @Test func `a simulated server that is silent executes the requests that it has read when it resumes`() {
        let paused = reply(Trouble(.hang, window: .init(0, 5)), at: 1)
        let dead = reply(Trouble(.refused), at: 1)
        let gateway = reply(Trouble(.status(504, retryAfter: nil)), at: 1)

        #expect(paused.end == .silence(isConnected: true))
        #expect(paused.executedAfter.map { (4...4.1).contains($0) } == true)
        #expect(dead.executedAfter == nil)
        #expect(gateway.executedAfter != nil)
    }

    @Test func `a simulated server that goes down resets its active requests`() {
        let reply = reply(Trouble(.refused, window: .init(1.004, 2)))

        #expect(reply.end == .failure(.connectionReset, wasSent: true))
        #expect(abs(reply.delay - 0.004) < 1e-9)
    }

    @Test func `a response is lost if the simulated server hangs before sending it`() {
        #expect(reply(Trouble(.hang, window: .init(1.004, 2))).end == .silence(isConnected: true))
    }

    @Test func `a quota that all servers share counts every call and restarts with each period`() {
        var servers = WorldServers(.sample([Trouble(.quota(2, period: 10, isPerServer: false))]))

        let statuses = [(0, 1.0), (1, 2), (0, 3), (1, 4), (0, 11)].map { server, time in
            servers.reply(to: ServerQuestion(call: 0, endpoint: 0, server: server, time: time)).status(within: 1)
        }

        #expect(statuses == [200, 200, 429, 429, 200])
    }

    @Test func `a quota of a simulated server counts only the calls to that server`() {
        var servers = WorldServers(.sample([Trouble(.quota(1, period: 10, isPerServer: true))]))

        let statuses = [0, 1, 0, 1].map { server in
            servers.reply(to: ServerQuestion(call: 0, endpoint: 0, server: server, time: 1)).status(within: 1)
        }

        #expect(statuses == [200, 200, 429, 429])
    }

    @Test func `a simulated success is marked if it is within the quota only because earlier requests were lost`() {
        let troubles = [Trouble(.refused, window: .init(0, 2)), Trouble(.quota(2, period: 10, isPerServer: false))]
        var servers = WorldServers(.sample(troubles))

        let replies = [0.5, 1, 3, 11].map { time in
            servers.reply(to: ServerQuestion(call: 0, endpoint: 0, server: 0, time: time))
        }

        #expect(replies.map { $0.status(within: 1) } == [nil, nil, 200, 200])
        #expect(replies.map(\.owesToLosses) == [false, false, true, false])
    }

    @Test func `a response that arrives after the deadline does not count`() {
        let reply = ServerReply(delay: 2, end: .answer(200, retryAfter: nil))

        #expect(reply.status(within: 2) == 200)
        #expect(reply.status(within: 1.9) == nil)
    }
}
