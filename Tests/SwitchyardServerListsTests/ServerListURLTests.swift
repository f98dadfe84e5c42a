import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardServerLists

/// The order in which the URLs of a server list are requested.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerListURLTests {
    @Test func `a server list is fetched from the next URL if one fails or its list is refused`() async throws {
        let lab = try ListLab()
        let other = try ListLab.topicServer()
        defer { other.stop() }
        let thief = try ListServer(lab.document(version: 9, [other], keys: [SigningKey("thief")]))
        let hotel = try ListServer(Data("<html>Welcome</html>".utf8))
        let (dead, good) = (try ListServer(Data()), try ListServer(lab.document([other])))
        dead.server.fault = .refuse
        let list = try lab.list(from: [dead, thief, hotel, good].map(\.url))
        let events = list.events()

        #expect(await list.refresh())
        list.stop()

        var seen: [ServerListEvent] = []
        for await event in events { seen.append(event) }
        #expect(seen.count == 4)
        #expect(seen[0].isUnreachable)
        #expect(seen[1].refusal == .unknownKey(["thief"]))
        if case .malformed = seen[2].refusal {} else { Issue.record("\(seen[2])") }
        #expect(seen[3].isApplied)
        #expect(lab.client.service.servers.map(\.name) == ["a"])
    }

    @Test func `after a fetch, the URL that provided the newest list is requested first`() async throws {
        let lab = try ListLab()
        let (dead, good) = (try ListServer(Data()), try ListServer(lab.document(lab.servers)))
        dead.server.fault = .status(503)
        let list = try lab.list(from: [dead.url, good.url])
        #expect(await list.refresh())
        let events = list.events()

        #expect(await list.refresh())
        list.stop()

        var areUnreachable: [Bool] = []
        for await event in events { areUnreachable.append(event.isUnreachable) }
        #expect(areUnreachable == [false, true])
        #expect((dead.requestCount, good.requestCount) == (2, 2))
    }

    @Test func `if several URLs provide the newest list, the first of them is still requested first`() async throws {
        let lab = try ListLab()
        let document = try lab.document(lab.servers)
        let (one, other) = (try ListServer(document), try ListServer(document))
        let list = try lab.list(from: [one.url, other.url])
        #expect(await list.refresh())
        one.server.fault = .status(503)
        other.server.fault = .status(503)
        let events = list.events()

        #expect(await !list.refresh())
        list.stop()

        var names: [String] = []
        for await event in events { if case .unreachable(_, let source) = event { names.append(source) } }
        #expect(names == [one, other].map(\.url.absoluteString))
    }

    @Test(arguments: [true, false])
    func `a URL with an old list does not prevent the use of a newer list from another URL`(_ isConditional: Bool)
        async throws
    {
        let lab = try ListLab()
        let document = try lab.document(lab.servers)
        let (old, new) = (try ListServer(document), try ListServer(document))
        let list = try lab.list(from: [old.url, new.url])
        #expect(await list.refresh())
        if !isConditional { old.server.route(.get, "/list.json", answering: .json(document)) }

        new.publish(try lab.document(version: 8, lab.servers))

        #expect(await list.refresh())
        #expect(list.status.version == 8)
    }

    @Test func `the first fetch finds the newest server list of all URLs`() async throws {
        let lab = try ListLab()
        let lists = try [7, 8, 6].map { try ListServer(lab.document(version: $0, lab.servers)) }
        let list = try lab.list(from: lists.map(\.url))

        #expect(await list.refresh())

        #expect(list.status.version == 8)
        #expect(lists.map(\.requestCount) == [1, 1, 1])
    }

    @Test func `a server list is requested without its entity tag if a list of another URL has replaced it`()
        async throws
    {
        let lab = try ListLab()
        let document = try lab.document(lab.servers)
        let (first, second) = (try ListServer(document), try ListServer(document))
        let list = try lab.list(from: [first.url, second.url])
        #expect(await list.refresh())
        first.server.fault = .status(503)
        #expect(await list.refresh())
        first.server.clearFaults()
        try first.publish(lab.document(version: 8, lab.servers))
        second.server.fault = .status(503)
        #expect(await list.refresh())

        first.server.fault = .status(503)
        second.server.clearFaults()
        #expect(await !list.refresh())

        #expect(list.status.version == 8)
        #expect(list.status.refusal == .outdated(version: 7, newest: 8))
        #expect(second.server.requests.last?.headers["If-None-Match"] == nil)
    }
}
