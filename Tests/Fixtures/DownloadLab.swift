package import Foundation
package import SwitchyardClient
package import SwitchyardHTTP
import SwitchyardServices
package import SwitchyardTesting
package import SwitchyardTransfers
package import SwitchyardTransport

/// A temporary folder, servers that support range requests, and a client for them.
package final class DownloadLab: Sendable {
    package let folder: URL
    package let servers: [LoopbackServer]
    package let client: NetworkClient

    /// Bytes that differ by position, so that a misplaced part is detected.
    package static func bytes(_ count: Int, seed: Int = 0) -> Data {
        // A drawn block that is repeated behind its number, because drawing all bytes takes long without optimization.
        let words = (0..<499).map { UInt64($0 + seed) &* 0x9E37_79B9_7F4A_7C15 }
        let block = words.withUnsafeBytes { Data($0) }
        var bytes = Data(capacity: count + block.count + 8)
        var number = UInt64(seed)
        while bytes.count < count {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
            bytes.append(block)
            number += 1
        }
        return bytes.prefix(count)
    }

    package init(_ count: Int = 1, options: NetworkClient.Options = NetworkClient.Options(seed: 1)) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("downloads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        servers = (0..<count).map { _ in LoopbackServer() }
        for server in servers { try server.start() }
        client = try NetworkClient(service: .loopback(servers, switching: Self.withoutHedging), options: options)
    }

    /// Without hedging, because these tests count requests, and on a busy machine a slow server would cause a hedge.
    private static var withoutHedging: SwitchPolicy {
        var policy = SwitchPolicy.recommended
        policy.hedging = nil
        policy.warmUp = nil
        return policy
    }

    deinit {
        client.shutdown()
        for server in servers { server.stop() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A lab in which the download of a content was cut after 300,000 bytes.
    package static func cut(_ content: LoopbackContent) async throws -> DownloadLab {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 300_000)
        _ = try await lab.failure(of: lab.download())
        lab.server.fault = nil
        return lab
    }

    /// Responds to `/live` with "one", and with "two" when the test opens the gate.
    package func serveLive() -> AsyncStream<Void>.Continuation {
        let gate = AsyncStream.makeStream(of: Void.self)
        server.route(.get, "/live") { _ in
            .stream { writer in
                try await writer.write("one")
                for await _ in gate.stream { break }
                try await writer.write("two")
            }
        }
        return gate.continuation
    }

    package var server: LoopbackServer { servers[0] }
    package var target: URL { folder.appendingPathComponent("film.mov") }

    /// Serves a content at `/film` on all servers or on one.
    package func serve(_ content: LoopbackContent, on server: LoopbackServer? = nil) {
        for server in server.map({ [$0] }) ?? servers {
            server.route(.get, "/film") { content.response(to: $0) }
        }
    }

    /// A download of `/film` that does not resume within the call.
    package func download(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> DownloadConfiguration {
        var configuration = DownloadConfiguration(path: "film", to: .file(target))
        configuration.maximumContinuations = 0
        change(&configuration)
        return configuration
    }

    /// The files in the folder.
    package var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    package var content: Data {
        get throws { try Data(contentsOf: target) }
    }

    /// The requested ranges of all servers, in the order of the servers.
    package var ranges: [String?] { servers.flatMap { $0.requests.map { $0.headers["Range"] } } }

    /// Runs a download that has to fail.
    package func failure(
        of configuration: DownloadConfiguration,
        progress: @escaping TransferProgressHandler = { _ in }
    ) async throws -> DownloadFailure {
        do throws(DownloadFailure) {
            _ = try await client.download(configuration, progress: progress)
        } catch {
            return error
        }
        throw Unexpected.success
    }

    package enum Unexpected: Error { case success }
}

extension DownloadFailure {
    /// The kind of the transport error, if the failure was one.
    package var transportKind: TransportError.Kind? {
        if case .request(.transport(let error)) = reason { error.kind } else { nil }
    }

    package var fileReason: FileFailure.Reason? {
        if case .file(let failure) = reason { failure.reason } else { nil }
    }
}
