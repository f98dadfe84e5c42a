import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardServerLists
import SwitchyardTesting
import Testing

/// Runs the samples of the article on server lists.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerListsTests {
    @Test func `the samples of the article on server lists apply a list`() async throws {
        let privateKey = Ed25519.newPrivateKey()
        let publicKey = try #require(try Ed25519.publicKey(of: privateKey))
        let payload: JSONValue = [
            "service": "forum", "version": 13, "issued": "2026-11-28T12:00:00Z",
            "expires": "2099-01-01T00:00:00Z",
            "servers": [["name": "fresh", "baseURLs": ["release": "https://api.example.net"]]],
        ]
        let document = try #require(
            try ServerListEnvelope.signing(payload.data, with: [("k1", privateKey)])
        )
        let client = try NetworkClient(
            service: Service(name: "forum", baseURL: "https://api.example.com"),
            transport: StubTransport { _ in .status(200, body: document) }
        )
        let url = try #require(URL(string: "https://lists.example.com/forum.json"))
        var options = ServerList.Options()
        ServerListsSamples.options(&options)
        options.reachability = ManualReachability()
        let folder = TemporaryFolder()

        let list = try ServerListsSamples.start(
            client,
            folder.url,
            publicKey.base64EncodedString(),
            [url],
            options
        )
        let events = list.events()
        #expect(await list.refresh())
        list.stop()
        await ServerListsSamples.watch(list) { _ in }

        var seen: [String] = []
        for await event in events { seen.append(event.description) }
        #expect(seen == ["applied server list 13: added fresh; removed primary"])
        #expect(list.status.version == 13)
        #expect(client.service.servers.map(\.name) == ["fresh"])
    }
}
