import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import Testing

@testable import SwitchyardServerLists

/// Keys that replace each other.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerListRotationTests {
    private let old = SigningKey("k1")
    private let new = SigningKey("k2")

    @Test func `during a key rotation, apps with the old, the new or both keys accept a list signed with both keys`()
        async throws
    {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers, keys: [old, new]))

        for keys in [[old], [new], [old, new]] {
            let app = try ListLab()
            #expect(try await app.list(from: [lists.url], keys: keys).refresh())
        }
    }

    @Test func `after a key rotation, an app with only the old key keeps its last server list`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers, keys: [old, new]))
        let list = try lab.list(from: [lists.url], keys: [old])
        #expect(await list.refresh())

        lists.publish(try lab.document(version: 8, lab.servers, keys: [new]))

        #expect(await !list.refresh())
        #expect(list.status.version == 7)
        #expect(list.status.refusal == .unknownKey(["k2"]))
    }

    @Test func `a stored server list with signatures of both keys stays valid when the app removes the old key`()
        async throws
    {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(lab.servers, keys: [old, new]))
        #expect(try await lab.list(from: [lists.url], keys: [old]).refresh())

        let updated = try ListLab(folder: lab.folder)
        let list = try updated.list(from: [lists.url], keys: [new])

        #expect(list.status.version == 7)
    }

    @Test
    func `a server list with the highest version from a stolen key does not block lists of the successor key`()
        async throws
    {
        let lab = try ListLab()
        let lists = try ListServer(lab.document(version: .max, lab.servers, keys: [old]))
        #expect(try await lab.list(from: [lists.url], keys: [old]).refresh())

        let updated = try ListLab(folder: lab.folder)
        let list = try updated.list(from: [lists.url], keys: [new])
        #expect(list.status.version == nil)
        #expect(list.status.refusal == .unknownKey(["k1"]))
        #expect(updated.client.service.servers.map(\.name) == ["primary"])
        lists.publish(try lab.document(version: 8, lab.servers, keys: [new]))

        #expect(await list.refresh())
        #expect(list.status.version == 8)
    }
}
