import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardAPI

/// A tus upload whose last response is lost, so that only a HEAD without a body reports its completion.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LostUploadResponseTests {
    private struct Film: Decodable, Sendable {
        var id: Int
    }

    private final class Films: APIManager {
        let client: NetworkClient

        init(client: NetworkClient) {
            self.client = client.scoped()
        }
    }

    private let bytes = DownloadLab.bytes(700_000)

    private func cutLab() throws -> (UploadLab, UploadConfiguration) {
        let lab = try UploadLab(.tus)
        let file = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        lab.uploads.cut(after: 700_000)
        var upload = lab.keptUpload(of: file)
        upload.resumption?.maximumContinuations = 3
        return (lab, upload)
    }

    @Test func `if the response of a complete upload is lost, a call that decodes it fails with responseLost`()
        async throws
    {
        let (lab, upload) = try cutLab()
        let films = Films(client: lab.client)

        let error = await #expect(throws: APIError.self) { _ = try await films.upload(upload, as: Film.self) }

        #expect(error?.reason == .body(.responseLost))
        #expect(error?.mayHaveBeenExecuted == true)
        #expect(error?.isRetryable == false)
        #expect(error?.context.path?.hasSuffix("/files/1") == true)
    }

    @Test func `a call that is repeated after a lost response does not upload a second copy`() async throws {
        let (lab, upload) = try cutLab()
        let films = Films(client: lab.client)

        for _ in 0..<3 {
            await #expect(throws: APIError(.body(.responseLost))) { _ = try await films.upload(upload, as: Film.self) }
        }

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(lab.server.requests.map(\.method) == [.post, .patch, .head, .head, .head])
    }

    @Test func `if the response of a complete upload is lost, a call without a response value succeeds`() async throws {
        let (lab, upload) = try cutLab()
        let films = Films(client: lab.client)

        _ = try await films.upload(upload, as: EmptyBody.self)

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(lab.records.isEmpty)
    }

    @Test func `a repeated call starts its upload again if the server no longer knows the upload`() async throws {
        let (lab, upload) = try cutLab()
        let films = Films(client: lab.client)
        await #expect(throws: APIError.self) { _ = try await films.upload(upload, as: Film.self) }
        lab.uploads.forget()

        _ = try await lab.client.upload(upload)

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(lab.records.isEmpty)
    }
}
