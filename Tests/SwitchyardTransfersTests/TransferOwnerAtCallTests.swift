import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardTransfers

/// A transfer belongs to the user that was logged in at the call.
@Suite(.timeLimit(.minutes(5)), .prompt) struct TransferOwnerAtCallTests {
    private static let ways: [@Sendable @MainActor (TopicAPI) async throws -> Void] = [
        { _ = try await $0.client.download(download) },
        { _ = try await $0.download(download) },
        { _ = try await $0.client.upload(upload) },
        { _ = try await $0.client.upload(resumable) },
        { _ = try await $0.upload(upload, as: EmptyBody.self) },
        { _ = try await $0.upload(resumable, as: EmptyBody.self) },
    ]

    private static var download: DownloadConfiguration {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("moment-\(UUID().uuidString)")
        return DownloadConfiguration(path: "x", to: .file(file))
    }

    private static var upload: UploadConfiguration {
        UploadConfiguration(path: "x", from: .data(Data("a".utf8)))
    }

    private static var resumable: UploadConfiguration {
        var configuration = upload
        configuration.resumption = UploadResumption(dialect: .tus(metadata: [:]))
        return configuration
    }

    @Test(arguments: ways.indices) @MainActor
    func `a transfer is not sent with the credentials of a user that logs in after the call`(way: Int) async throws {
        for _ in 0..<50 {
            let credentials = Credentials { _ in nil }
            credentials.set(.bearer("ann"), in: .release)
            let transport = StubTransport { _ in .status(404) }
            var options = NetworkClient.Options()
            options.credentials = credentials
            let topics = TopicAPI(client: try .stubbed(transport, options: options))
            let call = Task { @MainActor in try await Self.ways[way](topics) }
            let change = Task { @MainActor in
                credentials.logOut(in: .release)
                credentials.set(.bearer("bob"), in: .release)
            }
            await change.value
            _ = try? await call.value
            #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer ann" })
        }
    }
}
