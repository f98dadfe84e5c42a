import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransfers

/// Downloads of one content over several connections.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ParallelDownloadTests {
    private let bytes = DownloadLab.bytes(4_500_000)

    private var content: LoopbackContent { LoopbackContent(bytes, entityTag: "\"v1\"") }

    @Test func `the parts of a parallel download cover the content in order, and no part is too small`() {
        for (total, connections, count) in [
            (10 << 20, 4, 4), (3 << 20, 16, 3), (1 << 19, 4, 1), (64 << 20, 99, 16), (.max, 3, 3), (.max, 16, 16),
        ] as [(Int, Int, Int)] {
            let parts = ParallelFetch.parts(of: Int64(total), connections: connections)

            #expect(parts.count == count)
            #expect(parts.first?.lowerBound == 0)
            #expect(parts.last?.upperBound == Int64(total))
            #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        }
    }

    @Test(arguments: [.max, .max - 1, .max / 16 + 1] as [Int64])
    func `the parts of a very long content cover it evenly`(total: Int64) {
        let parts = ParallelFetch.parts(of: total, connections: 16)

        #expect(parts.count == 16)
        #expect(parts.first?.lowerBound == 0)
        #expect(parts.last?.upperBound == total)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(parts.allSatisfy { abs(Int64($0.count) - total / 16) <= 1 })
    }

    @Test func `a file that arrives over several connections has its bytes in order`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        let reports = Recorder<TransferProgress>()

        let file = try await lab.client.download(lab.download { $0.connections = 4 }) { reports.record($0) }

        #expect(try lab.content == bytes)
        #expect(lab.server.requests.count == 4)
        #expect(Set(lab.ranges.compactMap(\.self)).count == 3)
        #expect(file.receivedBytes == 4_500_000)
        #expect(reports.values.map(\.completed) == reports.values.map(\.completed).sorted())
        #expect(reports.values.last?.fraction == 1)
        #expect(try lab.files == ["film.mov"])
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `a broken part of a parallel download resumes where it stopped`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        let cuts = Locked(0)
        let content = content
        lab.server.route(.get, "/film") { request in
            let isCut = cuts.withLock { cuts in
                cuts += 1
                return cuts == 3
            }
            guard isCut else { return content.response(to: request) }
            var part = content.response(to: request)
            part.body = .stream(length: 1_500_000) { writer in
                try await writer.write(Data())
                throw CancellationError()
            }
            return part
        }

        _ = try await lab.client.download(
            lab.download {
                $0.connections = 3
                $0.maximumContinuations = 2
            }
        )

        #expect(try lab.content == bytes)
        #expect(lab.server.requests.count == 4)
    }

    @Test func `a server that sends shorter ranges than requested is asked for the rest and causes no failure`()
        async throws
    {
        let lab = try DownloadLab()
        let (content, bytes) = (content, bytes)
        lab.server.route(.get, "/film") { request in
            guard let range = request.headers["Range"]?.dropFirst(6).split(separator: "-").compactMap({ Int($0) }),
                range.count == 2
            else { return content.response(to: request) }
            let last = min(range[1], range[0] + 199_999)
            let headers: HTTPHeaders = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(range[0])-\(last)/\(bytes.count)",
            ]
            return .status(206, headers: headers, body: Data(bytes[range[0]...last]))
        }

        let file = try await lab.client.download(
            lab.download {
                $0.connections = 4
                $0.maximumContinuations = 0
            }
        )

        #expect(try lab.content == bytes)
        #expect(file.receivedBytes == 4_500_000)
    }

    @Test func `if a server truncates parts of a download, the next server sends the rest of the parts`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        lab.servers[0].fault = .truncate(after: 100_000)

        _ = try await lab.client.download(
            lab.download {
                $0.connections = 3
                $0.maximumContinuations = 1
            }
        )

        let health = lab.client.servers.map(\.statistics)
        #expect(try lab.content == bytes)
        #expect(health[0].lastFailure == .truncated)
        #expect(health[1].failures == 0)
        #expect(try lab.files == ["film.mov"])
    }

    @Test func `if the only server truncates the parts of a parallel download, the failures count against the server`()
        async throws
    {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .truncate(after: 100_000)

        let failure = try await lab.failure(of: lab.download { $0.connections = 2 })

        #expect(failure.transportKind == .truncated)
        #expect(lab.client.servers[0].statistics.lastFailure == .truncated)
    }

    @Test func `a parallel download that is larger than any disk fails and leaves no file`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(length: .max, entityTag: "\"v1\"") { Data(count: $0.count) })
        lab.server.fault = .truncate(after: 100_000)

        _ = try await lab.failure(of: lab.download { $0.connections = 16 })

        #expect(try lab.files.isEmpty)
    }

    @Test func `a server that ignores ranges sends the whole content over one connection`() async throws {
        let lab = try DownloadLab()
        let bytes = bytes
        lab.server.route(.get, "/film") { _ in
            var answer = LoopbackResponse.data(bytes)
            answer.headers.set("Accept-Ranges", "bytes")
            answer.headers.set("ETag", "\"v1\"")
            return answer
        }

        _ = try await lab.client.download(lab.download { $0.connections = 4 })

        #expect(try lab.content == bytes)
    }

    @Test func `a parallel download does not mix contents that change between parts`() async throws {
        let lab = try DownloadLab()
        let (old, new) = (bytes, DownloadLab.bytes(4_500_000, seed: 9))
        let count = Locked(0)
        lab.server.route(.get, "/film") { request in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            let content = LoopbackContent(isFirst ? old : new, entityTag: isFirst ? "\"v1\"" : "\"v2\"")
            return content.response(to: request)
        }

        _ = try await lab.client.download(lab.download { $0.connections = 4 })

        #expect(try lab.content == new)
    }

    @Test func `cancelling a parallel download cancels all parts and leaves no file`() async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        lab.server.fault = .drip(bytes: 20_000, every: .milliseconds(5))
        let id = RequestID()

        let error = await #expect(throws: DownloadFailure.self) {
            try await lab.client.download(lab.download { $0.connections = 4 }, id: id) { report in
                if report.completed > 100_000 { lab.client.cancel(id) }
            }
        }

        #expect(error?.isCancellation == true)
        #expect(try lab.files.isEmpty)
        #expect(lab.client.activeRequests.isEmpty)
    }

    @Test func `the connections of a parallel download are not listed as active requests`() async throws {
        let lab = try DownloadLab()
        let content = LoopbackContent(DownloadLab.bytes(6_000_000), entityTag: "\"v\"")
        let (asked, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        lab.server.route(.get, "/film") { request in
            if request.headers["Range"] != nil {
                asked.continuation.yield()
                for await _ in gate.stream { break }
            }
            return content.response(to: request)
        }
        let id = RequestID()
        let download = lab.download { $0.connections = 4 }
        let task = Task { try await lab.client.download(download, id: id) }
        for await _ in asked.stream { break }

        #expect(lab.client.activeRequests == [id])

        lab.client.cancel(id)
        gate.continuation.finish()
        _ = await #expect(throws: DownloadFailure.self) { try await task.value }
        #expect(await lab.client.waitUntilIdle())
    }
}
