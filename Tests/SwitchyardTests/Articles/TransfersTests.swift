import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Runs the samples of the article on transfers.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct TransfersTests {
    private func withClient(_ body: (NetworkClient, LoopbackServer, URL) async throws -> Void) async throws {
        let server = LoopbackServer()
        try server.start()
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("samples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let primary = try Server(name: "primary", baseURLs: [.test: ServerURL(server.baseURL)])
        let service = try Service(name: "samples", servers: [primary], defaultEnvironment: .test)
        try await body(try NetworkClient(service: service), server, folder)
    }

    @Test func `the samples in the Transfers article run`() async throws {
        try await withClient { client, server, folder in
            let film = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
            let content = LoopbackContent(film, entityTag: "\"7\"")
            server.route(.get, "/films/7.mov") { content.response(to: $0) }
            server.route(.get, "/ticks", answering: .text("{\"price\":1.5}\n{\"price\":2}\n"))
            server.route(.get, "/news", answering: LoopbackResponse(status: 204))
            server.route(.post, "/films") { request in
                try await request.body.collect() == film ? .text("", status: 201) : .text("", status: 400)
            }

            server.route(.post, "/forms") { request in
                let body = try await request.body.collect()
                return body.range(of: film) == nil ? .text("", status: 400) : .text("", status: 201)
            }

            let uploads = LoopbackUploads(.tus)
            uploads.open(on: server)

            let samples = TransfersSamples()
            let file = try await samples.download(with: client, to: folder.appendingPathComponent("new"))
            try await samples.follow(with: client)
            try await samples.listen(with: client)
            let status = try await samples.upload(with: client, film: file)
            let formStatus = try await samples.upload(with: client, film: file, title: "Holiday")
            let place = try await samples.upload(with: client, film: file, keeping: folder)
            let again = DownloadConfiguration(path: "films/7.mov", to: .file(folder.appendingPathComponent("8.mov")))
            try await samples.show(again, with: client)

            #expect(try Data(contentsOf: file) == film)
            #expect(status == 201)
            #expect(formStatus == 201)
            #expect(place?.path == "/files/1")
            #expect(uploads.uploads.map(\.bytes) == [film])
            #expect(server.requests.count == 8)
        }
    }
}
