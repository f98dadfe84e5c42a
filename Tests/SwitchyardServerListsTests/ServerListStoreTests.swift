import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardServerLists

/// The stored list and interrupted writes.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerListStoreTests {
    private let folder = TemporaryFolder()
    private var store: ServerListStore { ServerListStore(folder: folder.url, service: "topics") }

    private func contents(_ version: Int) throws -> ServerListStore.Contents {
        let validator = try #require(ServerListValidator("\"\(version)\"", nil))
        let document = try ListMaker { $0.version = .number(JSONNumber(version)) }.document
        return ServerListStore.Contents(envelope: document, validators: ["https://a.test": validator])
    }

    @Test func `a server list that was written to disk is read back unchanged`() throws {
        #expect(try store.read() == nil)
        try store.write(contents(7))
        try store.write(contents(8))

        #expect(try store.read() == contents(8))
        #expect(folder.entries.count == 1)
    }

    @Test(arguments: [0, 1, 100, 400])
    func `a power cut while the list is written leaves the old list, and the next write succeeds`(
        bytes: Int
    ) throws {
        try store.write(contents(7))
        let whole = try Data(contentsOf: store.url)
        // A cut before the rename leaves a part of the new file next to the old one.
        try whole.prefix(bytes).write(to: store.url.appendingPathExtension("new"))

        #expect(try store.read() == contents(7))
        try store.write(contents(8))
        #expect(try store.read() == contents(8))
    }

    @Test(arguments: [0, 1, 100, 400])
    func `a damaged server list file is reported, and the built-in servers are used until a list arrives`(bytes: Int)
        async throws
    {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        #expect(try await lab.list(from: [lists.url]).refresh())
        let file = try #require(lab.folder.entries.first { $0.pathExtension == "serverlist" })
        try Data(contentsOf: file).prefix(bytes).write(to: file)

        let relaunched = try ListLab(folder: lab.folder)
        let list = try relaunched.list(from: [lists.url])

        if case .malformed = list.status.refusal {} else { Issue.record("\(list.status)") }
        #expect(relaunched.client.service.servers.map(\.name) == ["primary"])
        #expect(await list.refresh())
        #expect(list.status.version == 7)
    }

    @Test func `a stored list that was changed on disk is refused because of its signature`() async throws {
        let lab = try ListLab()
        let forged = try lab.document(version: 9, lab.servers, keys: [SigningKey("thief")])
        let store = ServerListStore(folder: lab.folder.url, service: lab.client.service.name)
        try store.write(ServerListStore.Contents(envelope: forged, validators: [:]))

        let list = try lab.list(from: [try #require(URL(string: "http://127.0.0.1:1/"))])

        #expect(list.status.refusal == .unknownKey(["thief"]))
        #expect(list.status.version == nil)
    }

    @Test func `a server list that cannot be stored is used and reported`() async throws {
        let lab = try ListLab()
        try Data().write(to: lab.folder.url)
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        let events = list.events()

        #expect(await list.refresh())

        #expect(list.status.version == 7)
        let event = await events.first { if case .notStored = $0 { true } else { false } }
        #expect(event != nil)
    }

    @Test func `a server list that could not be stored is stored by the next fetch`() async throws {
        let lab = try ListLab()
        try Data().write(to: lab.folder.url)
        let lists = try ListServer(lab.document(lab.servers))
        let list = try lab.list(from: [lists.url])
        #expect(await list.refresh())
        try FileManager.default.removeItem(at: lab.folder.url)

        #expect(await list.refresh())

        let relaunched = try ListLab(folder: lab.folder)
        #expect(try relaunched.list(from: [lists.url]).status.version == 7)
        let areConditional = lists.server.requests.map { $0.headers["If-None-Match"] != nil }
        #expect(areConditional == [false, true])
    }

    @Test func `a newer server list that another process has stored is not replaced`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers))
        let app = try lab.list(from: [lists.url])
        #expect(await app.refresh())
        let other = try ListLab(folder: lab.folder)
        let stale = try ListServer(lab.document(version: 8, lab.servers))
        let appExtension = try other.list(from: [stale.url])
        #expect(appExtension.status.version == 7)
        lists.publish(try lab.document(version: 9, lab.servers))
        #expect(await app.refresh())

        #expect(await appExtension.refresh())

        #expect(appExtension.status.version == 8)
        #expect(try ListLab(folder: lab.folder).list(from: [stale.url]).status.version == 9)
        #expect(lab.folder.entries.count == 1)
    }

    @Test func `the lists of different services are stored in different files`() {
        let names = ["topics", "Topics", "a/b", "a%2fb", "..", "\u{1}0", "\u{10}"]
        let files = names.map { ServerListStore(folder: folder.url, service: $0).url.lastPathComponent.lowercased() }

        #expect(Set(files).count == names.count)
        #expect(files.allSatisfy { !$0.contains("/") && !$0.hasPrefix(".") })
    }
}
