import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// What a download that was cut has left, in the hands of another one: E18 to E22.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct KeptBytesTests {
    private let bytes = DownloadLab.bytes(3_000_000)

    /// A lab in which a download was cut after so many bytes.
    private func cutLab(after count: Int) async throws -> (lab: DownloadLab, failure: DownloadFailure) {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))
        lab.server.fault = .truncate(after: count)
        let failure = try await lab.failure(of: lab.download())
        lab.server.fault = nil
        #expect(failure.keptBytes == Int64(count))
        return (lab, failure)
    }

    // E36
    @Test(arguments: [true, false])
    func `what was kept goes when the same file arrives in a way that keeps nothing`(inParts: Bool) async throws {
        let (lab, _) = try await cutLab(after: 700_000)

        _ = try await lab.client.download(
            lab.download { if inParts { $0.connections = 2 } else { $0.isResumable = false } }
        )

        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `what was kept stays when such a download fails`() async throws {
        let (lab, _) = try await cutLab(after: 700_000)
        lab.server.fault = .truncate(after: 100)

        _ = try await lab.failure(of: lab.download { $0.connections = 2 })
        lab.server.fault = nil
        let file = try await lab.client.download(lab.download())

        #expect(file.resumedBytes == 700_000)
        #expect(try lab.content == bytes)
    }

    @Test func `kept bytes that are the whole are refused when they are more than is accepted`() async throws {
        let (lab, failure) = try await cutLab(after: 2_999_999)
        let part = try #require(try lab.files.first { $0.hasSuffix(".part") })
        let handle = try FileHandle(forWritingTo: lab.folder.appendingPathComponent(part))
        try handle.seekToEnd()
        try handle.write(contentsOf: bytes.suffix(1))
        try handle.close()

        let refused = try await lab.failure(
            of: lab.download {
                $0.resumeData = failure.resumeData
                $0.maximumLength = 1_000
            }
        )

        #expect(refused.transportKind == .bodyTooLarge)
        #expect(!FileManager.default.fileExists(atPath: lab.target.path))
    }

    // E20
    @Test func `resume data of another content leaves that content's bytes alone`() async throws {
        let (lab, failure) = try await cutLab(after: 700_000)
        let content = LoopbackContent(bytes.prefix(500), entityTag: "\"v2\"")
        lab.server.route(.get, "/other") { content.response(to: $0) }
        var other = DownloadConfiguration(path: "other", to: .file(lab.folder.appendingPathComponent("other.mov")))
        other.resumeData = failure.resumeData

        let small = try await lab.client.download(other)
        let film = try await lab.client.download(lab.download { $0.resumeData = failure.resumeData })

        #expect(small.length == 500)
        #expect(film.resumedBytes == 700_000)
        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov", "other.mov"])
    }

    // A crash may come between the two steps with which a file gets its place.
    @Test func `a file that is in its place already, and still among what is kept, is not written to`() async throws {
        let (lab, _) = try await cutLab(after: 2_999_999)
        let part = lab.folder.appendingPathComponent(try #require(try lab.files.first { $0.hasSuffix(".part") }))
        let handle = try FileHandle(forWritingTo: part)
        try handle.seekToEnd()
        try handle.write(contentsOf: bytes.suffix(1))
        try handle.close()
        try FileManager.default.linkItem(at: part, to: lab.target)
        let other = DownloadLab.bytes(2_000_000, seed: 1)
        lab.serve(LoopbackContent(other, entityTag: "\"v2\""))

        let file = try await lab.client.download(lab.download { $0.existingFile = .makeUnique })

        #expect(try lab.content == bytes)
        #expect(try Data(contentsOf: file.url) == other)
        #expect(try lab.files == ["film 2.mov", "film.mov"])
    }
}
