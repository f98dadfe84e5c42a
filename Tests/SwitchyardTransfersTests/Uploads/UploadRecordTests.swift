import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardClient

/// Uploads that a later call resumes.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadRecordTests {
    private let bytes = DownloadLab.bytes(700_000)

    private func file(_ lab: UploadLab) throws -> URL {
        let file = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        return file
    }

    /// A lab in which an upload was cut after 300,000 bytes.
    private func cutLab(_ dialect: LoopbackUploads.Dialect, servers: Int = 1) async throws -> (UploadLab, URL) {
        let lab = try UploadLab(dialect, servers: servers)
        let file = try file(lab)
        try await lab.cut(file)
        return (lab, file)
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `a later call resumes an interrupted upload, even with another client`(
        _ dialect: LoopbackUploads.Dialect
    ) async throws {
        let (lab, file) = try await cutLab(dialect)
        let client = try NetworkClient(service: .loopback(lab.servers))
        defer { client.shutdown() }
        #expect(lab.records.count == 1)

        _ = try await client.upload(lab.keptUpload(of: file))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(lab.server.requests.last?.bodyCount == 400_000)
        #expect(lab.records.isEmpty)
    }

    @Test func `an upload record is readable only for the file's owner`() async throws {
        let (lab, _) = try await cutLab(.tus)

        let record = try #require(lab.records.first)
        let attributes = try FileManager.default.attributesOfItem(atPath: record.path)

        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `an interrupted upload starts again if its file has changed`() async throws {
        let (lab, file) = try await cutLab(.tus)
        let other = DownloadLab.bytes(700_000, seed: 1)
        try other.write(to: file)

        _ = try await lab.client.upload(lab.keptUpload(of: file))

        #expect(lab.uploads.uploads.last?.bytes == other)
        #expect(lab.uploads.uploads.count == 2)
    }

    @Test func `a damaged upload record or a record of another version is ignored`() async throws {
        for text in ["{", #"{"version": 2}"#] {
            let (lab, file) = try await cutLab(.tus)
            try Data(text.utf8).write(to: try #require(lab.records.first))

            _ = try await lab.client.upload(lab.keptUpload(of: file))

            #expect(lab.uploads.uploads.map(\.isComplete) == [false, true])
        }
    }

    // A client sends no plain http request to another host unless this is allowed.
    @Test func `an upload URL that the client must not use is not stored`() async throws {
        let lab = try UploadLab(.tus)
        let file = try file(lab)
        lab.server.route(
            .post,
            "/elsewhere",
            answering: .status(201, headers: ["Location": "http://far.example.com/1"])
        )
        var upload = lab.keptUpload(of: file)
        upload.request.path = "elsewhere"

        let failure = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(upload) }

        let expected = RequestError.url(text: "http://far.example.com/1", reason: .insecure)
        #expect(failure?.reason == .invalidRequest(expected))
        #expect(lab.records.isEmpty)
    }

    @Test(arguments: ["http://far.example.com/1", "http://a%00b:p@127.0.0.1:1/1"])
    func `an upload record with a URL that the client must not use is ignored`(url: String) async throws {
        let (lab, file) = try await cutLab(.tus)
        let record = try #require(lab.records.first)
        var fields = try #require(
            try JSONSerialization.jsonObject(with: try Data(contentsOf: record)) as? [String: Any]
        )
        fields["url"] = url
        try JSONSerialization.data(withJSONObject: fields).write(to: record)
        var upload = lab.keptUpload(of: file)
        upload.resumption?.maximumContinuations = 1

        _ = try await lab.client.upload(upload)

        #expect(lab.uploads.uploads.map(\.isComplete) == [false, true])
        #expect(lab.records.isEmpty)
    }

    @Test func `an upload with another path or another file does not resume the earlier upload`() async throws {
        let (lab, file) = try await cutLab(.tus)
        let other = lab.folder.appendingPathComponent("other.bin")
        try FileManager.default.copyItem(at: file, to: other)
        lab.uploads.open(on: lab.server, at: "/films")
        var elsewhere = lab.keptUpload(of: file)
        elsewhere.request.path = "films"

        _ = try await lab.client.upload(lab.keptUpload(of: other))
        _ = try await lab.client.upload(elsewhere)

        #expect(lab.uploads.uploads.map(\.isComplete) == [false, true, true])
        #expect(lab.records.count == 1)
    }

    @Test func `an upload with other metadata or another description starts a new upload`() async throws {
        let (lab, file) = try await cutLab(.tus)
        var named = lab.keptUpload(of: file)
        named.resumption = .tus(metadata: ["filename": "film.mov"])
        named.resumption?.directory = lab.keptFolder
        let (drive, source) = try await cutLab(.contentRange)
        var described = drive.keptUpload(of: source)
        described.resumption = .contentRange(opening: .json(["name": "film.mov"]))
        described.resumption?.directory = drive.keptFolder

        _ = try await lab.client.upload(named)
        _ = try await drive.client.upload(described)

        #expect(lab.uploads.uploads.map(\.isComplete) == [false, true])
        #expect(drive.uploads.uploads.map(\.isComplete) == [false, true])
    }

    @Test func `an upload starts again at another server if its server is gone for good`() async throws {
        let (lab, file) = try await cutLab(.tus, servers: 2)
        let others = LoopbackUploads(.tus)
        others.open(on: lab.servers[1])
        lab.server.fault = .refuse
        var upload = lab.keptUpload(of: file)
        upload.resumption?.maximumContinuations = 3

        _ = try await lab.client.upload(upload)

        #expect(others.uploads.map(\.bytes) == [bytes])
    }

    @Test func `an upload stores no record if no directory for records is set`() async throws {
        let lab = try UploadLab(.tus)
        let file = try file(lab)
        var upload = lab.keptUpload(of: file)
        upload.resumption?.directory = nil
        lab.uploads.cut(after: 300_000)

        _ = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(upload) }
        _ = try await lab.client.upload(upload)

        #expect(lab.uploads.uploads.map(\.isComplete) == [false, true])
    }

    @Test func `the error for a record that cannot be written has the path of the file`() async throws {
        let lab = try UploadLab(.tus)
        let file = try file(lab)
        var upload = lab.keptUpload(of: file)
        upload.resumption?.directory = file.appendingPathComponent("below-a-file")

        let failure = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(upload) }

        guard case .invalidRequest(.file(let path, .unwritable))? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(path.hasPrefix(file.path))
    }

    @Test func `the record of an upload that the server no longer knows is removed`() async throws {
        let (lab, file) = try await cutLab(.tus)
        lab.uploads.forget()

        _ = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(lab.keptUpload(of: file)) }
        _ = try await lab.client.upload(lab.keptUpload(of: file))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
    }
}
