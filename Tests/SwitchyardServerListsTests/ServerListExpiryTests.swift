import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardServerLists

/// Lists over TLS whose servers report a time, with a stub in place of the network.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerListExpiryTests {
    private let folder = TemporaryFolder()

    /// A list whose server responds with a document and a date.
    private func list(_ document: Data, at date: Date?, from url: String = "https://lists.test/list.json") throws
        -> ServerList
    {
        try list(document, from: [(url, date)])
    }

    /// A list whose URLs respond with a document and with their dates.
    private func list(_ document: Data, from sources: [(url: String, date: Date?)]) throws -> ServerList {
        let client = try NetworkClient.stubbed { _ in .status(200) }.client
        var options = ServerList.Options()
        options.reachability = nil
        options.transport = StubTransport { request in
            let date = sources.first { $0.url == request.url.text }?.date
            let headers = date.flatMap { HTTPDate.text(for: $0) }.map { ["Date": $0] as HTTPHeaders } ?? [:]
            return .status(200, headers: headers, body: document)
        }
        return try ServerList(
            for: client,
            from: try sources.map { try #require(URL(string: $0.url)) },
            keys: [SigningKey("k1").trusted],
            hosts: ["*.lists.test", "*.lists.release"],
            store: folder.url,
            options: options
        )
    }

    @Test func `an expired stored list stays in use and is reported as expired`() async throws {
        let document = try ListMaker().document
        #expect(try await list(document, at: ListMaker.issued).refresh())

        let relaunched = try list(document, at: ListMaker.issued + 400 * ListMaker.day)
        let events = relaunched.events()
        #expect(await !relaunched.refresh())

        #expect(relaunched.status.version == 7)
        #expect(relaunched.status.refusal == nil)
        #expect(relaunched.status.isExpired)
        #expect(await events.first { $0 == .expired(version: 7, ListMaker.issued + 30 * ListMaker.day) } != nil)
    }

    @Test func `the date of a response without a valid list can show that the server list in use has expired`()
        async throws
    {
        #expect(try await list(ListMaker().document, at: ListMaker.issued).refresh())

        let relaunched = try list(Data("no list".utf8), at: ListMaker.issued + 31 * ListMaker.day)
        let events = relaunched.events()
        #expect(await !relaunched.refresh())

        #expect(relaunched.status.version == 7)
        #expect(relaunched.status.isExpired)
        #expect(await events.first { $0 == .expired(version: 7, ListMaker.issued + 30 * ListMaker.day) } != nil)
    }

    @Test func `a server list within its grace period is used and reported as expired`() async throws {
        let list = try list(ListMaker().document, at: ListMaker.issued + 31 * ListMaker.day)
        let events = list.events()

        #expect(await !list.refresh())

        #expect(list.status.version == 7)
        #expect(list.status.isExpired)
        #expect(await events.first(\.isApplied) != nil)
        #expect(await events.first { $0 == .expired(version: 7, ListMaker.issued + 30 * ListMaker.day) } != nil)
    }

    @Test(arguments: ["https", "http"], [nil, 0, 31] as [Double?])
    func `an expired server list stays expired if another URL provides the same list`(scheme: String, days: Double?)
        async throws
    {
        let late = ListMaker.issued + 31 * ListMaker.day
        let (url, date) = ("\(scheme)://other.test/list.json", days.map { ListMaker.issued + $0 * ListMaker.day })
        let list = try list(ListMaker().document, from: [("https://lists.test/list.json", late), (url, date)])
        let events = list.events()

        #expect(await !list.refresh())

        #expect(list.status.isExpired)
        #expect(await events.first { $0 == .expired(version: 7, ListMaker.issued + 30 * ListMaker.day) } != nil)
    }

    @Test func `a server list is no longer reported as expired when a newer list arrives`() async throws {
        let old = try ListMaker().document
        #expect(try await !list(old, at: ListMaker.issued + 31 * ListMaker.day).refresh())
        let new = try ListMaker {
            $0.version = 8
            $0.expires = .string((ListMaker.issued + 60 * ListMaker.day).iso8601)
        }.document

        let newer = try list(new, at: ListMaker.issued + 31 * ListMaker.day)

        #expect(await newer.refresh())
        #expect(newer.status.version == 8)
        #expect(!newer.status.isExpired)
    }

    @Test func `a new installation refuses a server list whose grace period after expiry has ended`() async throws {
        let list = try list(ListMaker().document, at: ListMaker.issued + 400 * ListMaker.day)

        #expect(await !list.refresh())

        #expect(list.status.version == nil)
        if case .expired = list.status.refusal {} else { Issue.record("\(list.status)") }
    }

    @Test func `the date of a list server without TLS is not used as the current time`() async throws {
        let url = "http://lists.test/list.json"
        let list = try list(ListMaker().document, at: ListMaker.issued + 400 * ListMaker.day, from: url)

        #expect(await list.refresh())
        #expect(!list.status.isExpired)
    }

    @Test func `a server list is accepted if the list server reports no time`() async throws {
        let list = try list(ListMaker().document, at: nil)

        #expect(await list.refresh())
        #expect(list.status.expires == ListMaker.issued + 30 * ListMaker.day)
    }
}
