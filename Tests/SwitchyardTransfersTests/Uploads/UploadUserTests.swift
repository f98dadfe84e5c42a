import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

@testable import SwitchyardClient

/// Uploads belong to the user that started them, if the client has users.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadUserTests {
    private let bytes = DownloadLab.bytes(700_000)
    private let session = AppSession()

    private func lab(_ dialect: LoopbackUploads.Dialect = .tus, knowsUsers: Bool = true) throws -> UploadLab {
        var options = NetworkClient.Options(seed: 1)
        session.prepare(&options, knowsUsers: knowsUsers)
        options.credentials = nil
        let lab = try UploadLab(dialect, options: options)
        try bytes.write(to: file(lab))
        return lab
    }

    private func file(_ lab: UploadLab) -> URL { lab.folder.appendingPathComponent("up.bin") }

    private func upload(_ lab: UploadLab) -> UploadConfiguration { lab.keptUpload(of: file(lab)) }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `an interrupted upload waits for its user while another user uploads the same file`(
        _ dialect: LoopbackUploads.Dialect
    ) async throws {
        let lab = try lab(dialect)
        session.name("ada")
        try await lab.cut(file(lab))

        session.name("bob")
        _ = try await lab.client.upload(upload(lab))
        #expect(lab.uploads.uploads.map(\.bytes.count) == [300_000, 700_000])
        session.name("ada")
        _ = try await lab.client.upload(upload(lab))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes, bytes])
        #expect(lab.server.requests.last?.bodyCount == 400_000)
        #expect(lab.records.isEmpty)
    }

    @Test func `an upload waits while no user is logged in`() async throws {
        let lab = try lab()
        session.name("ada")
        try await lab.cut(file(lab))

        session.name(nil)
        _ = try await lab.client.upload(upload(lab))

        #expect(lab.uploads.uploads.map(\.bytes.count) == [300_000, 700_000])
        #expect(lab.records.count == 1)
    }

    @Test func `an upload that was started without a user is resumed for the next user`() async throws {
        let lab = try lab()
        try await lab.cut(file(lab))

        session.name("ada")
        _ = try await lab.client.upload(upload(lab))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(lab.records.isEmpty)
    }

    @Test func `an upload that one user has resumed is not resumed for another user`() async throws {
        let lab = try lab()
        try await lab.cut(file(lab))
        session.name("ada")
        lab.server.setFault(.status(503), on: "/files/*")
        _ = try await lab.client.upload(upload(lab))
        lab.server.setFault(nil, on: "/files/*")

        session.name("bob")
        _ = try await lab.client.upload(upload(lab))

        #expect(lab.uploads.uploads.map(\.bytes.count) == [300_000, 700_000])
        #expect(lab.records.count == 1)
    }

    @Test func `a client without users resumes every upload`() async throws {
        let lab = try lab(knowsUsers: false)
        session.name("ada")
        try await lab.cut(file(lab))

        session.name("bob")
        _ = try await lab.client.upload(upload(lab))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
    }

    @Test func `an upload ends when another user logs in, and resumes for its own user`() async throws {
        let lab = try lab()
        session.name("ada")
        var pieces = upload(lab)
        pieces.resumption?.pieceLength = 250_000
        pieces.request.interceptors = [
            .retrying { [session] round in
                if round.configuration.method == .patch { session.name("bob") }
                return .undecided
            }
        ]
        let left = pieces

        let failure = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(left) }
        #expect(failure?.isCancellation == true)
        #expect(lab.uploads.uploads.map(\.bytes.count) == [250_000])
        session.name("ada")
        _ = try await lab.client.upload(upload(lab))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
    }
}
