import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// A server, or several servers with a shared storage, for resumable uploads.
final class UploadLab: Sendable {
    let lab: DownloadLab
    let uploads: LoopbackUploads

    init(_ dialect: LoopbackUploads.Dialect, servers count: Int = 1, options: NetworkClient.Options? = nil) throws {
        lab = try DownloadLab(count, options: options ?? NetworkClient.Options(seed: 1))
        uploads = LoopbackUploads(dialect)
        for server in lab.servers { uploads.open(on: server) }
    }

    var client: NetworkClient { lab.client }
    var server: LoopbackServer { lab.server }
    var servers: [LoopbackServer] { lab.servers }
    var folder: URL { lab.folder }
    /// The folder for the records of interrupted uploads.
    var keptFolder: URL { folder.appendingPathComponent("kept") }

    /// The records of interrupted uploads.
    var records: [URL] {
        (try? FileManager.default.contentsOfDirectory(at: keptFolder, includingPropertiesForKeys: nil)) ?? []
    }

    /// An upload of a file that fails at the first break and that a later call resumes.
    func keptUpload(of file: URL) -> UploadConfiguration {
        var upload = UploadConfiguration(path: "files", from: .file(file))
        upload.resumption = uploads.dialect == .tus ? .tus() : .contentRange()
        upload.resumption?.directory = keptFolder
        upload.resumption?.maximumContinuations = 0
        return upload
    }

    /// Uploads a file over a connection that breaks after 300,000 bytes of its first piece.
    func cut(_ file: URL) async throws {
        uploads.cut(after: 300_000)
        var upload = keptUpload(of: file)
        upload.resumption?.pieceLength = 400_000
        let first = upload
        _ = await #expect(throws: RequestFailure.self) { _ = try await client.upload(first) }
    }
}
