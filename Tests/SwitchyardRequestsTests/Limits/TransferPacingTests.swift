import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardRequests
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Pacing of transfers that send several requests.
@Suite(.timeLimit(.minutes(5)), .prompt) struct TransferPacingTests {
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
    func `a resumed download does not supersede itself`(limit: Int) async throws {
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

    @Test func `a download that a throttle has admitted continues after a newer request`() async throws {
        let clock = ManualClock()
        let bytes = DownloadLab.bytes(1_000)
        let cut = TransportError(.truncated, message: "cut")
        let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "1000"]
        let rest: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 600-999/1000"]
        let transport = StubTransport(answers: [
            .chunks([bytes.prefix(600)], headers: whole, every: .seconds(5), on: clock, failing: cut), .status(200),
            .chunks([bytes.dropFirst(600)], status: 206, headers: rest),
        ])
        let client = try NetworkClient(service: .topics(switching: .off, servers: 1), transport: transport, time: clock)
        let lab = try DownloadLab()
        let breaks = AsyncStream.makeStream(of: Void.self)
        var configuration = lab.download {
            $0.maximumContinuations = 1
            $0.onEvent = { if case .interrupted = $0 { breaks.continuation.yield() } }
        }
        configuration.request.limits = [Throttle(.seconds(2))]
        let task = Task { [configuration] in try await client.download(configuration) }
        await clock.waitForTimers(1, in: .seconds(5))
        clock.advance(by: .seconds(4))
        _ = try await client.send(configuration.request)

        clock.advance(by: .seconds(1))
        for await _ in breaks.stream { break }
        await clock.waitForTimers(1)
        clock.advance(by: .milliseconds(200))

        #expect(try await task.value.receivedBytes == 1_000)
        #expect(transport.requestCount == 3)
    }
}
