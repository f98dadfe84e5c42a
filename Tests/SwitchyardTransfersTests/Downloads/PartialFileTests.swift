import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Partial files of a cut download that another download finds.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct PartialFileTests {
    private let bytes = DownloadLab.bytes(3_000_000)

    /// A lab in which a download was cut after the given number of bytes.
    private func cutLab(after count: Int) async throws -> (lab: DownloadLab, failure: DownloadFailure) {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))
        lab.server.fault = .truncate(after: count)
        let failure = try await lab.failure(of: lab.download())
        lab.server.fault = nil
        #expect(failure.keptBytes == Int64(count))
        return (lab, failure)
    }

    @Test(arguments: [true, false])
    func `a partial file is removed after a parallel or non-resumable download of the same file`(inParts: Bool)
        async throws
    {
        let (lab, _) = try await cutLab(after: 700_000)

        _ = try await lab.client.download(
            lab.download { if inParts { $0.connections = 2 } else { $0.isResumable = false } }
        )

        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `a partial file stays if a parallel download of the same file fails`() async throws {
        let (lab, _) = try await cutLab(after: 700_000)
        lab.server.fault = .truncate(after: 100)

        _ = try await lab.failure(of: lab.download { $0.connections = 2 })
        lab.server.fault = nil
        let file = try await lab.client.download(lab.download())

        #expect(file.resumedBytes == 700_000)
        #expect(try lab.content == bytes)
    }

    @Test func `a complete partial file above the maximum length is rejected as too large`() async throws {
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

    @Test func `resume data of another content does not change the partial file`() async throws {
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

    // A crash can happen between the two steps that move a file to its destination.
    @Test func `a partial file that is already linked to the destination is not written to any more`() async throws {
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
