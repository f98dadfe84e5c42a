import Foundation
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransfers

/// Listing and removing partial downloads.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct PartialDownloadTests {
    private let content = LoopbackContent(DownloadLab.bytes(700_000), entityTag: "\"v1\"")

    @Test func `a partial download is listed and can be resumed from the list`() async throws {
        let lab = try await DownloadLab.cut(content)

        let rest = try #require(PartialDownload.all(in: lab.folder).first)

        #expect(rest.path == "/film")
        #expect(rest.keptBytes == 300_000)
        #expect(rest.size == 300_000)
        #expect(rest.total == 700_000)
        #expect(abs(rest.changedAt.timeIntervalSinceNow) < 3_600)
        let elsewhere = lab.folder.appendingPathComponent("elsewhere.mov")
        let file = try await lab.client.download(
            lab.download {
                $0.destination = .file(elsewhere)
                $0.resumeData = rest.resumeData
            }
        )
        #expect(file.resumedBytes == 300_000)
        #expect(try Data(contentsOf: elsewhere) == DownloadLab.bytes(700_000))
        #expect(PartialDownload.all(in: lab.folder).isEmpty)
    }

    @Test func `a partial download is removed completely, and removing it again succeeds`() async throws {
        let lab = try await DownloadLab.cut(content)
        let rest = try #require(PartialDownload.all(in: lab.folder).first)

        #expect(rest.remove())
        #expect(rest.remove())

        #expect(try lab.files.isEmpty)
        let file = try await lab.client.download(lab.download())
        #expect(file.resumedBytes == 0)
    }

    @Test func `a partial download that is being written is listed but not removed`() async throws {
        let lab = try await DownloadLab.cut(content)
        let rest = try #require(PartialDownload.all(in: lab.folder).first)
        let name = try #require(try lab.files.first { $0.hasSuffix(".part") })
        let writer = try PartialFile(at: lab.folder.appendingPathComponent(name))

        #expect(PartialDownload.all(in: lab.folder).count == 1)
        #expect(!rest.remove())

        #expect(try lab.files.count == 2)
        withExtendedLifetime(writer) {}
    }

    @Test func `partial files without a record can be listed and removed`() async throws {
        let lab = try await DownloadLab.cut(content)
        for name in [".switchyard-a.part", ".switchyard-b.json", ".other.part", "film.part", ".switchyard-c.txt"] {
            try Data("x".utf8).write(to: lab.folder.appendingPathComponent(name))
        }
        let directory = lab.folder.appendingPathComponent(".switchyard-d.part")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)

        let rests = PartialDownload.all(in: lab.folder)
        #expect(rests.count == 3)
        #expect(rests.filter { $0.path == nil && $0.resumeData == nil && $0.keptBytes == 0 }.count == 2)
        for rest in rests { #expect(rest.remove()) }

        #expect(try lab.files == [".other.part", ".switchyard-c.txt", ".switchyard-d.part", "film.part"])
        #expect(PartialDownload.all(in: lab.folder.appendingPathComponent("missing")).isEmpty)
    }
}
