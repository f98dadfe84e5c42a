import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// A record of a download whose bytes are gone.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct OrphanedRecordTests {
    @Test func `what is kept can be thrown away when its bytes are gone already`() async throws {
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
