import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardServerLists

/// List servers that cost memory or time.
@Suite(.timeLimit(.minutes(5)), .prompt) struct HostileListServerTests {
    private let topics = APIConfiguration(path: "topics")

    @Test(arguments: [.hang, .drip(bytes: 1, every: .milliseconds(20)), .blackHole] as [Fault])
    func `a list server that never finishes its response causes one timeout and no failed call`(fault: Fault)
        async throws
    {
        let lab = try ListLab()
        let slow = try ListServer(lab.document(lab.servers))
        let good = try ListServer(lab.document(lab.servers))
        slow.server.fault = fault
        let list = try lab.list(from: [slow.url, good.url]) { $0.timeout = .seconds(2) }
        let events = list.events()
        let start = ContinuousClock.now
        let hasEnded = Locked(false)

        let refresh = Task {
            let isFetched = await list.refresh()
            hasEnded.withLock { $0 = true }
            return isFetched
        }
        let response = try await lab.client.send(topics)

        #expect(response.status == 200)
        #expect(hasEnded.withLock { !$0 }, "the call waited for the list")
        #expect(await refresh.value)
        #expect(ContinuousClock.now - start < .seconds(10))
        list.stop()
        #expect(await events.first(\.isUnreachable) != nil)
        #expect(await events.first(\.isApplied) != nil)
    }

    @Test(arguments: [true, false])
    func `a server list of 1 GiB is refused after its first bytes`(isAnnounced: Bool) async throws {
        let lab = try ListLab()
        let sent = Locked(0)
        let server = LoopbackServer()
        let piece = Data(repeating: UInt8(ascii: " "), count: 65_536)
        server.route(.get, "/list.json") { _ in
            .stream(length: isAnnounced ? 1 << 30 : nil) { writer in
                for _ in 0..<16_384 {
                    try await writer.write(piece)
                    sent.withLock { $0 += piece.count }
                }
            }
        }
        try server.start()
        defer { server.stop() }
        let list = try lab.list(from: [try #require(URL(string: "\(server.baseURL)/list.json"))])

        #expect(await !list.refresh())
        await server.waitUntilIdle()

        #expect(list.status.refusal == .tooLarge)
        #expect(sent.withLock { $0 } < 32 << 20)
    }

    @Test func `a redirect of a list server is not followed`() async throws {
        let lab = try ListLab()
        let target = try ListServer(lab.document(lab.servers))
        let lists = try ListServer(Data())
        let location = target.url.absoluteString
        lists.server.setDefaultRoute(nil)
        lists.server.route(.get, "/list.json", answering: .status(302, headers: ["Location": location]))
        let list = try lab.list(from: [lists.url])

        #expect(await !list.refresh())
        #expect(target.requestCount == 0)
    }

    @Test func `a 304 response to a request without If-None-Match is not accepted as a list`() async throws {
        let lab = try ListLab()
        let lists = try ListServer(Data())
        lists.server.route(.get, "/list.json", answering: .status(304))
        let list = try lab.list(from: [lists.url])

        #expect(await !list.refresh())
        #expect(list.status.version == nil)
    }

    @Test func `a list with thousands of signatures causes one verification for each trusted key`() async throws {
        let payload = ListMaker().payload
        let bad: JSONValue = ["key": "k1", "signature": .string(Data(count: 64).base64EncodedString())]
        let document: JSONValue = [
            "payload": .string(payload.base64EncodedString()),
            "signatures": .array(Array(repeating: bad, count: 1_500)),
        ]
        let keys = [try SigningKey("k1").trusted]

        let isFast = await isPrompt {
            let start = ContinuousClock.now
            #expect(throws: ServerListRefusal.badSignature(key: "k1")) {
                try ServerListDocument(document.data, signedBy: keys)
            }
            return ContinuousClock.now - start < .seconds(1)
        }
        #expect(isFast)
    }
}
