import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// A download record without its partial file.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct OrphanedRecordTests {
    @Test func `a download record can be discarded after its partial file is gone`() async throws {
        let bytes = DownloadLab.bytes(700_000)
        let lab = try await DownloadLab.cut(LoopbackContent(bytes, entityTag: "\"v1\""))
        for name in try lab.files where name.hasSuffix(".part") {
            try FileManager.default.removeItem(at: lab.folder.appendingPathComponent(name))
        }
        #expect(try lab.files.count == 1)

        lab.client.discardPartialDownload(lab.download())

        #expect(try lab.files.isEmpty)
        #expect(PartialDownload.all(in: lab.folder).isEmpty)
    }
}
