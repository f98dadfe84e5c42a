import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardInspector

@Suite(.timeLimit(.minutes(5)), .prompt) struct EvidenceTests {
    /// An inspector whose page is open while calls meet a first server that refuses connections.
    private func outage(calls: Int, _ options: TrafficInspector.Options = .quiet()) async throws -> InspectorLab {
        let lab = try InspectorLab(inspector: options) { request, _ in
            request.server == "primary" ? .failure(.connectionRefused) : .json("[]")
        }
        _ = try await lab.page.feed()
        for number in 1...calls { _ = try await lab.client.send(APIConfiguration(path: "topics/\(number)")) }
        await until {
            let news = lab.inspector.desk.book.news(after: 0)
            let ended = news.forgotten + news.calls.count { $0.end != nil }
            return ended == calls && news.outages["primary"] != nil && news.events.contains { $0.kind == .switch }
        }
        return lab
    }

    @Test func `the card of an ejected server shows the evidence for the ejection`() async throws {
        let lab = try await outage(calls: 20)

        let feed = try await lab.page.feed()

        let server = try #require(feed.client.servers.first)
        let met = feed.calls.count { $0.attempts.contains { $0.server == "primary" } }
        #expect(server.state == .ejected)
        #expect(server.since == feed.calls.first?.attempts.first?.start)
        let saved = met == 1 ? "1 call was affected" : "\(met) calls were affected"
        #expect(
            server.words.hasPrefix("refused connections; \(saved): \(met) failed over to secondary"),
            "\(server.words)"
        )
    }

    @Test func `the card of a server has percentiles only after 20 responses`() async throws {
        let lab = try InspectorLab(servers: 1)
        for number in 1...19 { _ = try await lab.client.send(APIConfiguration(path: "topics/\(number)")) }

        let few = try #require(lab.inspector.desk.latest().client.servers.first)
        _ = try await lab.client.send(APIConfiguration(path: "topics/20"))
        let enough = try #require(lab.inspector.desk.latest().client.servers.first)

        #expect(few.words == "0 of the last 19 requests failed")
        #expect(enough.words.hasPrefix("0 of the last 20 requests failed; half of the responses arrived within"))
    }

    @Test func `the card of a server shows its failed requests even if the failures do not count against the server`()
        async throws
    {
        let lab = try InspectorLab(servers: 1) { _, _ in .failure(.connectionRefused) }
        for _ in 1...3 { _ = try? await lab.client.send(APIConfiguration(path: "topics")) }

        let server = try #require(lab.inspector.desk.latest().client.servers.first)

        #expect(server.words == "3 of the last 3 requests failed")
    }

    @Test func `the verdict in the feed names the server that is out of service and the number of saved calls`()
        async throws
    {
        let lab = try await outage(calls: 20)

        let feed = try await lab.page.feed()

        let headline = "Server primary is out of service, and calls go to secondary. All 20 calls succeeded."
        #expect(feed.verdict.headline == headline)
        #expect(feed.verdict.details.first?.contains("saved") == true)
    }

    @Test func `the events in an inspector feed are full sentences with their causes`() async throws {
        let lab = try await outage(calls: 20)

        let feed = try await lab.page.feed()

        let texts = feed.events.map(\.text)
        #expect(
            texts.contains(
                "primary is taken out of service, because requests to it failed: the last time, it refused connections"
            )
        )
        #expect(texts.contains { $0.hasPrefix("calls go to secondary instead of primary, because ") })
    }

    @Test func `calls that failed over are kept longer than calls without a failover`() async throws {
        let lab = try await outage(calls: 40, .quiet { $0.calls = 10 })
        let feed = try await lab.page.feed()

        #expect(feed.calls.first?.attempts.map(\.kind) == [.first, .failover])
        #expect(try #require(feed.calls.first).number < 30)
        #expect(feed.calls.count == 10 && feed.forgotten == 30)
        #expect(feed.verdict.headline.contains("All 40 calls succeeded"))
    }

    @Test func `an inspector that records from the start shows calls from before the page was open`() async throws {
        let lab = try InspectorLab(inspector: .quiet { $0.recordsFromStart = true })
        #expect(lab.client.clientObserverCount == 1)

        _ = try await lab.client.send(APIConfiguration(path: "early"))

        #expect(try await lab.feed(ended: 1).calls.map(\.path) == ["early"])
        lab.inspector.stop()
        #expect(lab.client.clientObserverCount == 0)
    }
}

@Suite(.timeLimit(.minutes(5)), .prompt) struct KeptAddressTests {
    private func options(_ file: URL) -> TrafficInspector.Options {
        .quiet {
            $0.keepsAddress = true
            $0.addressFile = file
        }
    }

    @Test func `a restarted inspector has the same address and another session`() async throws {
        let folder = TemporaryFolder()
        let file = folder.url.appendingPathComponent("folder/address.json")
        let first = try InspectorLab(inspector: options(file))
        let session = try await first.page.feed().session
        let address = first.inspector.address
        first.inspector.stop()

        let second = try InspectorLab(inspector: options(file))

        #expect(second.inspector.address == address)
        #expect(try await second.page.feed().session != session)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test func `an inspector whose stored port is in use gets a new port and a new access token`() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appendingPathComponent("address.json")
        let first = try InspectorLab(inspector: options(file))

        let second = try InspectorLab(inspector: options(file))

        #expect(first.inspector.address.suffix(33) != second.inspector.address.suffix(33))
        #expect(first.inspector.address.prefix(22) != second.inspector.address.prefix(22))
    }

    @Test(arguments: [
        "", "{}", #"{"port": 1, "token": "short"}"#, #"{"port": 1, "token": "../../0123456789abcdef0123456789"}"#,
    ])
    func `an invalid file with a stored inspector address is ignored`(text: String) throws {
        let folder = try TemporaryFolder.made()
        let file = try folder.file("address.json", Data(text.utf8))

        #expect(KeptAddress.read(file) == nil)
        #expect(FileManager.default.fileExists(atPath: file.path))
        withExtendedLifetime(folder) {}
    }
}
