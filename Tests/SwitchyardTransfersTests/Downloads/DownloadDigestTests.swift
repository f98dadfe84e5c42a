import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Downloads with an expected digest.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct DownloadDigestTests {
    // Only slightly larger than the cuts, because hashing a megabyte takes a second without optimization.
    private static let bytes = DownloadLab.bytes(301_000)
    private static let others = DownloadLab.bytes(301_000, seed: 7)
    private static let expected = ContentDigest(.sha256, bytes: MessageDigest.sha256(bytes))
    private static let actual = ContentDigest(.sha256, bytes: MessageDigest.sha256(others))

    private var content: LoopbackContent { LoopbackContent(Self.bytes, entityTag: "\"v1\"") }
    private var wrong: LoopbackContent { LoopbackContent(Self.others, entityTag: "\"v1\"") }

    private var mismatch: DownloadFailure.Reason {
        get throws {
            .digestMismatch(expected: try #require(Self.expected), actual: try #require(Self.actual))
        }
    }

    private func download(
        _ lab: DownloadLab,
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> DownloadConfiguration {
        lab.download {
            $0.digest = Self.expected
            change(&$0)
        }
    }

    @Test(arguments: ContentDigest.Algorithm.allCases)
    func `a file with the expected digest is moved to its destination`(algorithm: ContentDigest.Algorithm) async throws
    {
        let lab = try DownloadLab()
        lab.serve(content)
        let expected = algorithm == .md5 ? MessageDigest.md5(Self.bytes) : MessageDigest.sha256(Self.bytes)

        _ = try await lab.client.download(lab.download { $0.digest = ContentDigest(algorithm, bytes: expected) })

        #expect(try lab.content == Self.bytes)
        #expect(try lab.files == ["film.mov"])
        #expect(lab.ranges == [nil])
    }

    @Test func `a downloaded file with another digest than expected is rejected, and the old file stays`() async throws
    {
        let lab = try DownloadLab()
        lab.serve(wrong)
        try Data("old".utf8).write(to: lab.target)

        let failure = try await lab.failure(of: download(lab) { $0.existingFile = .replace })

        #expect(try failure.reason == mismatch)
        #expect(failure.keptBytes == 0)
        #expect(failure.resumeData == nil)
        #expect(try lab.content == Data("old".utf8))
        #expect(try lab.files == ["film.mov"])
        #expect(lab.ranges == [nil])
    }

    @Test func `a file with the wrong digest is loaded again from the next server`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[1])
        let events = Recorder<DownloadEvent>()

        let file = try await lab.client.download(download(lab) { $0.onEvent = { events.record($0) } })

        #expect(try lab.content == Self.bytes)
        #expect(file.context.server == "secondary")
        #expect(file.receivedBytes == 602_000)
        #expect(lab.ranges == [nil, nil])
        #expect(events.values.contains(.restarted("the content has the wrong digest \(try #require(Self.actual))")))
    }

    @Test func `after a wrong digest, each server is asked only once`() async throws {
        let lab = try DownloadLab(3)
        lab.serve(wrong)

        let failure = try await lab.failure(of: download(lab))

        #expect(try failure.reason == mismatch)
        #expect(lab.servers.map(\.requests.count) == [1, 1, 1])
        #expect(try lab.files.isEmpty)
    }

    @Test func `a second wrong digest from the only reachable server ends the download`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong)
        lab.servers[1].fault = .refuse

        let failure = try await lab.failure(of: download(lab))

        #expect(try failure.reason == mismatch)
        #expect(lab.servers[0].requests.count == 2)
    }

    @Test func `a download skips an unreachable server while it looks for a server with the right content`()
        async throws
    {
        let lab = try DownloadLab(3)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[2])

        let file = try await lab.client.download(download(lab))

        #expect(try lab.content == Self.bytes)
        #expect(file.context.server == "tertiary")
        #expect(lab.servers.map(\.requests.count) == [1, 1, 1])
    }

    @Test func `after a wrong digest, a download also asks a server that was added during the download`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[1])
        let client = lab.client
        let servers = client.service.servers
        try client.replaceServers([servers[0]])
        let download = download(lab) {
            $0.onEvent = { if case .began = $0 { try? client.replaceServers([servers[1]]) } }
        }

        let file = try await client.download(download)

        #expect(try lab.content == Self.bytes)
        #expect(file.context.server == "secondary")
    }

    @Test func `if a file from two servers has a wrong digest, it is loaded again from one server`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[1])
        lab.servers[0].fault = .truncate(after: 300_000)

        let file = try await lab.client.download(download(lab) { $0.maximumContinuations = 1 })

        #expect(try lab.content == Self.bytes)
        #expect(file.context.server == "secondary")
        #expect(lab.ranges == [nil, "bytes=300000-", nil])
    }

    @Test func `a download returns to a server that truncated the body if the other servers sent a wrong digest`()
        async throws
    {
        let lab = try DownloadLab()
        let clock = ManualClock()
        let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "301000"]
        let rest: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 300000-300999/301000"]
        let transport = StubTransport { request in
            if request.headers["Range"] != nil {
                return .chunks([Self.bytes.dropFirst(300_000)], status: 206, headers: rest)
            }
            guard request.server == "secondary" else { return .chunks([Self.others], headers: whole) }
            let cut = TransportError(.truncated, message: "cut")
            return .chunks([Self.bytes.prefix(300_000)], headers: whole, failing: cut)
        }
        let client = try NetworkClient(service: .topics(switching: .off), transport: transport, time: clock)
        try client.replaceServers(Array(client.service.servers.prefix(2)))
        let breaks = AsyncStream.makeStream(of: Void.self)
        let configuration = download(lab) {
            $0.maximumContinuations = 1
            $0.onEvent = { if case .interrupted = $0 { breaks.continuation.yield() } }
        }
        let task = Task { try await client.download(configuration) }

        for await _ in breaks.stream { break }
        await clock.waitForTimers(1)
        #expect(transport.requests.map(\.server) == ["primary", "secondary"])
        clock.advance(by: .seconds(5))

        #expect(try await task.value.context.server == "secondary")
        #expect(try lab.content == Self.bytes)
    }

    @Test func `a call with a fixed server does not load a wrong file from another server`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong)

        let failure = try await lab.failure(of: download(lab) { $0.request.server = .named("primary") })

        #expect(try failure.reason == mismatch)
        #expect(lab.servers.map(\.requests.count) == [1, 0])
    }

    @Test func `a POST is not sent again if its response has a wrong digest`() async throws {
        let lab = try DownloadLab(2)
        for server in lab.servers { server.route(.post, "/film") { [wrong] in wrong.response(to: $0) } }

        let failure = try await lab.failure(of: download(lab) { $0.request.method = .post })

        #expect(try failure.reason == mismatch)
        #expect(lab.servers.map(\.requests.count) == [1, 0])
    }

    @Test func `the digest of a resumed download includes the bytes of the earlier download`() async throws {
        let lab = try await DownloadLab.cut(content)

        let file = try await lab.client.download(download(lab))

        #expect(try lab.content == Self.bytes)
        #expect(file.resumedBytes == 300_000)
        #expect(lab.ranges == [nil, "bytes=300000-"])
    }

    @Test func `a partial file that was damaged is loaded again`() async throws {
        let lab = try await DownloadLab.cut(content)
        let part = try #require(try lab.files.first { $0.hasSuffix(".part") })
        let handle = try FileHandle(forUpdating: lab.folder.appendingPathComponent(part))
        try handle.write(contentsOf: Data("bad".utf8))
        try handle.close()

        let file = try await lab.client.download(download(lab))

        #expect(try lab.content == Self.bytes)
        #expect(file.resumedBytes == 0)
        #expect(lab.ranges == [nil, "bytes=300000-", nil])
    }

    @Test func `the digest of a download includes the bytes that another server sent`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        lab.servers[0].fault = .truncate(after: 300_000)

        let file = try await lab.client.download(download(lab) { $0.maximumContinuations = 1 })

        #expect(try lab.content == Self.bytes)
        #expect(file.context.server == "secondary")
        #expect(lab.ranges == [nil, "bytes=300000-"])
    }

    @Test func `the digest of a parallel download includes all its parts`() async throws {
        let lab = try DownloadLab()
        let long = DownloadLab.bytes(2_100_000)
        lab.serve(LoopbackContent(long, entityTag: "\"v1\""))

        _ = try await lab.client.download(
            lab.download {
                $0.connections = 2
                $0.digest = ContentDigest(.md5, bytes: MessageDigest.md5(long))
            }
        )

        #expect(try lab.content == long)
        #expect(lab.server.requests.count == 2)
    }

    @Test func `a POST whose response has a wrong digest may have been executed`() async throws {
        for method in [HTTPMethod.post, .get] {
            let lab = try DownloadLab()
            lab.server.route(method, "/film") { [wrong] in wrong.response(to: $0) }

            let failure = try await lab.failure(of: download(lab) { $0.request.method = method })

            #expect(failure.reason == (try mismatch))
            #expect(failure.mayHaveBeenExecuted == (method == .post))
            #expect(APIError(failure).mayHaveBeenExecuted == (method == .post))
        }
    }

    @Test func `a parallel download with a wrong digest is loaded again over one connection`() async throws {
        let lab = try DownloadLab()
        lab.serve(LoopbackContent(DownloadLab.bytes(2_100_000), entityTag: "\"v1\""))

        let failure = try await lab.failure(of: download(lab) { $0.connections = 2 })

        guard case .digestMismatch = failure.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect(lab.server.requests.map { $0.headers["Range"] != nil } == [false, true, false])
        #expect(try lab.files.isEmpty)
    }
}
