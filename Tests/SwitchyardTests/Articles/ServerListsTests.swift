import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardServerLists
import SwitchyardTesting
import Testing

/// Runs the samples of the article on server lists.
@Suite(.timeLimit(.minutes(5)), .prompt) struct ServerListsTests {
    private let folder = TemporaryFolder()
    private let privateKey = Ed25519.newPrivateKey()

    /// A signed list with one server, https://api.example.net.
    private func document() throws -> Data {
        let payload: JSONValue = [
            "service": "forum", "version": 13, "issued": "2026-11-28T12:00:00Z",
            "expires": "2099-01-01T00:00:00Z",
            "servers": [["name": "fresh", "baseURLs": ["release": "https://api.example.net"]]],
        ]
        return try #require(try ServerListEnvelope.signing(payload.data, with: [("k1", privateKey)]))
    }

    /// Creates the list of a client as the article does.
    private func list(for client: NetworkClient) throws -> ServerList {
        let publicKey = try #require(try Ed25519.publicKey(of: privateKey))
        let url = try #require(URL(string: "https://lists.example.com/forum.json"))
        var options = ServerList.Options()
        ServerListsSamples.options(&options)
        // No test waits for the first fetch.
        options.startDelay = .seconds(86_400)
        options.reachability = ManualReachability()
        return try ServerListsSamples.start(client, folder.url, publicKey.base64EncodedString(), [url], options)
    }

    /// Creates a client whose servers, except for those named, are dead.
    private func client(_ service: Service, alive hosts: [String]) throws -> NetworkClient {
        let document = try document()
        let transport = StubTransport { request in
            let isAlive = hosts.contains { request.url.text.hasPrefix("https://\($0)/") }
            if request.url.text.hasPrefix("https://lists.") { return .status(200, body: document) }
            return isAlive ? .json("[]") : .failure(.connectionRefused)
        }
        return try NetworkClient(service: service, transport: transport)
    }

    @Test func `the samples in the ServerLists article apply a list`() async throws {
        let client = try client(Service(name: "forum", baseURL: "https://api.example.com"), alive: [])
        let list = try list(for: client)
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

    @Test func `in the sample for an app launch, a failed first call is repeated with the servers of a new list`()
        async throws
    {
        let service = try Service(name: "forum", baseURL: "https://api.example.com")
        let client = try client(service, alive: ["api.example.net"])
        let api = ServerListsSamples.TopicLists(
            api: TopicAPI(client: client),
            list: try list(for: client),
            call: APIConfiguration(path: "topics")
        )

        #expect(try await api.topics().isEmpty)
    }

    @Test func `in the server list sample, a new server list is fetched when only a mirror still responds`()
        async throws
    {
        let servers = try [
            Server(name: "primary", baseURLs: [.release: ServerURL("https://api.example.com")]),
            Server(name: "mirror", baseURLs: [.release: ServerURL("https://cdn.example.com")], serves: .reads),
        ]
        let service = try Service(name: "forum", servers: servers, defaultEnvironment: .release)
        let client = try client(service, alive: ["cdn.example.com", "api.example.net"])
        let list = try list(for: client)
        let events = list.events()
        let following = ServerListsSamples.refreshWithoutServers(client, list)
        defer { following.cancel() }

        // The ejection of the primary server causes the fetch, whose list may be applied before the next check.
        while let state = client.servers.first(where: { $0.id == "primary" })?.state, state != .ejected {
            let server = try await client.send(APIConfiguration(path: "topics")).context.server
            #expect(["mirror", "fresh"].contains(server))
        }

        #expect(await events.first { if case .applied = $0 { true } else { false } } != nil)
        #expect(try await client.send(APIConfiguration(path: "topics")).context.server == "fresh")
    }
}
