import Foundation
import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Row K17, of what takes several requests.
@Suite(.timeLimit(.minutes(5))) struct TransferPacingTests {
    private static let limits: [@Sendable () -> any RequestLimit] = [
        { LatestWins() }, { Throttle(.seconds(600)) }, { Debounce(.milliseconds(50)) },
    ]

    private func lab(_ limit: Int) throws -> DownloadLab {
        var options = NetworkClient.Options(seed: 1)
        options.limits = [Self.limits[limit]()]
        return try DownloadLab(options: options)
    }

    @Test(arguments: limits.indices)
    func `the connections of one download do not supersede each other`(limit: Int) async throws {
        let lab = try lab(limit)
        let bytes = DownloadLab.bytes(4_500_000)
        lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))

        _ = try await lab.client.download(lab.download { $0.connections = 4 })

        #expect(try lab.content == bytes)
        #expect(lab.server.requests.count == 4)
    }

    @Test(arguments: limits.indices)
    func `a download that goes on where it was cut does not supersede itself`(limit: Int) async throws {
        let lab = try lab(limit)
        let bytes = DownloadLab.bytes(600_000)
        let content = LoopbackContent(bytes, entityTag: "\"v1\"")
        let isCut = Locked(false)
        lab.server.route(.get, "/film") { request in
            let isFirst = isCut.withLock { isCut in
                defer { isCut = true }
                return !isCut
            }
            var response = content.response(to: request)
            guard isFirst else { return response }
            response.body = .stream(length: 600_000) { writer in
                try await writer.write(bytes.prefix(300_000))
                throw CancellationError()
            }
            return response
        }

        _ = try await lab.client.download(lab.download { $0.maximumContinuations = 3 })

        #expect(try lab.content == bytes)
        #expect(lab.server.requests.count == 2)
    }
}
