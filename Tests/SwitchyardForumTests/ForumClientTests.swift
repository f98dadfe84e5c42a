import Foundation
import Switchyard
import SwitchyardTesting
import Testing

@testable import yard

/// The generated client of the demo's backend, which `forum.yaml` describes, with the demo's own machines.
@Suite(.timeLimit(.minutes(20))) struct ForumClientTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static var document: String { folder.appendingPathComponent("forum.yaml").path }

    /// Runs a body with a client and the machines of the forum.
    private func withForum(_ body: (ForumClient, yard.Forum) async throws -> Void) async throws {
        let film = ForumFilm(length: 100_000)
        let machines = try yard.Forum(film: film.content(bytesPerSecond: nil))
        defer { machines.stop() }
        let client = try NetworkClient(service: try machines.service())
        try await body(ForumClient(client: client), machines)
    }

    @Test func `the generate command writes the client into the folder of the tests`() async throws {
        try await withTemporaryFolder { folder in
            let words = ["generate", Self.document, "--name", "ForumClient", "--into", folder.path]

            #expect(await Yard.run(words) == 0)

            let client = Self.folder.appendingPathComponent("Client").path
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
            #expect(names == (try FileManager.default.subpathsOfDirectory(atPath: client).sorted()))
            for name in names where name.contains(".") {
                let written = try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
                #expect(try written == String(contentsOfFile: "\(client)/\(name)", encoding: .utf8), "\(name)")
            }
        }
    }

    @Test func `checking the OpenAPI document reports no skipped parts`() async {
        #expect(await Yard.run(["generate", Self.document, "--check"]) == 0)
    }

    @Test func `the generated service file names the three servers`() throws {
        let file = Self.folder.appendingPathComponent("Client/Services/forumclient.json")

        let service = try ServiceCatalog.service(contentsOf: file)

        #expect(service.servers.map(\.name) == ["primary", "secondary", "tertiary"])
    }

    @Test func `a paged list continues when the server that sent its first pages stops`() async throws {
        try await withForum { forum, machines in
            let list = forum.topics.listPages(pageSize: 20)
            var ids: [Int] = []

            for try await topic in list.all {
                ids.append(topic.id)
                if ids.count == 10 { machines.machine(named: "primary")?.server.stop() }
            }

            #expect(ids == Array(1...57))
        }
    }

    @Test func `the generated client decodes single values and errors`() async throws {
        try await withForum { forum, _ in
            let topic = try await forum.topics.get(id: 3).data
            #expect(topic.title == "Topic 3")
            let user = try await forum.users.get(id: 1).data
            #expect(user.name == "Ada")
            let headline = try await forum.topics.readHeadline().data
            #expect(headline.edition == 1)

            let error = await #expect(throws: APIError.self) { try await forum.topics.get(id: 900) }
            #expect(error?.module(ForumClientError.self) == .notFound)
            #expect(error?.decodedBody(as: Refusal.self)?.code == 201)
        }
    }

    @Test func `the generated client uploads and downloads files`() async throws {
        try await withForum { forum, _ in
            let file = FilePart.data(Data(count: 1_000), fileName: "a.bin")
            let attachment = try await forum.topics.attachTo(id: 3, body: TopicsAttachToTopicBody(file: file)).data

            #expect(attachment.name == "a.bin" && attachment.bytes == 1_000)
            let film = try await forum.topics.topicFilm(id: 3)
            #expect(film.count == 100_000)
        }
    }
}
