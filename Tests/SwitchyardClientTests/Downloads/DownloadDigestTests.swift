import Foundation
import SwitchyardClient
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Downloads that know what they have to become: E38.
@Suite(.timeLimit(.minutes(5)))
struct DownloadDigestTests {
    private let bytes = DownloadLab.bytes(700_000)
    private let others = DownloadLab.bytes(700_000, seed: 7)

    private var content: LoopbackContent { LoopbackContent(bytes, entityTag: "\"v1\"") }
    private var wrong: LoopbackContent { LoopbackContent(others, entityTag: "\"v1\"") }

    private func digest(of data: Data) throws -> ContentDigest {
        try #require(ContentDigest(.sha256, bytes: MessageDigest.sha256(data)))
    }

    private func download(
        _ lab: DownloadLab,
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> DownloadConfiguration {
        let digest = try digest(of: bytes)
        return lab.download {
            $0.digest = digest
            change(&$0)
        }
    }

    @Test(arguments: ContentDigest.Algorithm.allCases)
    func `a file of the digest expected is put in its place`(algorithm: ContentDigest.Algorithm) async throws {
        let lab = try DownloadLab()
        lab.serve(content)
        let expected = algorithm == .md5 ? MessageDigest.md5(bytes) : MessageDigest.sha256(bytes)

        _ = try await lab.client.download(lab.download { $0.digest = ContentDigest(algorithm, bytes: expected) })

        #expect(try lab.content == bytes)
        #expect(try lab.files == ["film.mov"])
        #expect(lab.ranges == [nil])
    }

    @Test func `one of another digest is not, and what stood there stays`() async throws {
        let lab = try DownloadLab()
        lab.serve(wrong)
        try Data("old".utf8).write(to: lab.target)

        let failure = try await lab.failure(of: try download(lab) { $0.existingFile = .replace })

        #expect(failure.reason == .digestMismatch(expected: try digest(of: bytes), actual: try digest(of: others)))
        #expect(failure.keptBytes == 0)
        #expect(failure.resumeData == nil)
        #expect(try lab.content == Data("old".utf8))
        #expect(try lab.files == ["film.mov"])
        #expect(lab.ranges == [nil])
    }

    @Test func `it is loaded anew from the next server`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[1])
        let events = Recorder<DownloadEvent>()

        let file = try await lab.client.download(try download(lab) { $0.onEvent = { events.record($0) } })

        #expect(try lab.content == bytes)
        #expect(file.context.server == "secondary")
        #expect(file.receivedBytes == 1_400_000)
        #expect(lab.ranges == [nil, nil])
        #expect(events.values.contains(.restarted("the content's hash is \(try digest(of: others))")))
    }

    @Test func `every server is asked once`() async throws {
        let lab = try DownloadLab(3)
        lab.serve(wrong)

        let failure = try await lab.failure(of: try download(lab))

        #expect(failure.reason == .digestMismatch(expected: try digest(of: bytes), actual: try digest(of: others)))
        #expect(lab.servers.map(\.requests.count) == [1, 1, 1])
        #expect(try lab.files.isEmpty)
    }

    @Test func `a server that is asked again, since no other answers, is believed no more than before`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong)
        lab.servers[1].fault = .refuse

        let failure = try await lab.failure(of: try download(lab))

        #expect(failure.reason == .digestMismatch(expected: try digest(of: bytes), actual: try digest(of: others)))
        #expect(lab.servers[0].requests.count == 2)
    }

    @Test func `one that refuses is passed over while the right content is looked for`() async throws {
        let lab = try DownloadLab(3)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[2])

        let file = try await lab.client.download(try download(lab))

        #expect(try lab.content == bytes)
        #expect(file.context.server == "tertiary")
        #expect(lab.servers.map(\.requests.count) == [1, 1, 1])
    }

    @Test func `a server that a new list brings is asked, the only one that it leaves`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[1])
        let client = lab.client
        let servers = client.service.servers
        try client.replaceServers([servers[0]])
        let download = try download(lab) {
            $0.onEvent = { if case .began = $0 { try? client.replaceServers([servers[1]]) } }
        }

        let file = try await client.download(download)

        #expect(try lab.content == bytes)
        #expect(file.context.server == "secondary")
    }

    @Test func `of a content that came from two servers none is blamed, and it is loaded as one`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong, on: lab.servers[0])
        lab.serve(content, on: lab.servers[1])
        lab.servers[0].fault = .truncate(after: 300_000)

        let file = try await lab.client.download(try download(lab) { $0.maximumContinuations = 1 })

        #expect(try lab.content == bytes)
        #expect(file.context.server == "secondary")
        #expect(lab.ranges == [nil, "bytes=300000-", nil])
    }

    @Test func `a call that names its server asks no other`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(wrong)

        let failure = try await lab.failure(of: try download(lab) { $0.request.server = .named("primary") })

        #expect(failure.reason == .digestMismatch(expected: try digest(of: bytes), actual: try digest(of: others)))
        #expect(lab.servers.map(\.requests.count) == [1, 0])
    }

    @Test func `a write is not sent again for it`() async throws {
        let lab = try DownloadLab(2)
        for server in lab.servers { server.route(.post, "/film") { [wrong] in wrong.response(to: $0) } }

        let failure = try await lab.failure(of: try download(lab) { $0.request.method = .post })

        #expect(failure.reason == .digestMismatch(expected: try digest(of: bytes), actual: try digest(of: others)))
        #expect(lab.servers.map(\.requests.count) == [1, 0])
    }

    @Test func `bytes that were there from before count`() async throws {
        let lab = try await DownloadLab.cut(content)

        let file = try await lab.client.download(try download(lab))

        #expect(try lab.content == bytes)
        #expect(file.resumedBytes == 300_000)
        #expect(lab.ranges == [nil, "bytes=300000-"])
    }

    @Test func `bytes that have gone bad meanwhile are loaded anew`() async throws {
        let lab = try await DownloadLab.cut(content)
        let part = try #require(try lab.files.first { $0.hasSuffix(".part") })
        let handle = try FileHandle(forUpdating: lab.folder.appendingPathComponent(part))
        try handle.write(contentsOf: Data("bad".utf8))
        try handle.close()

        let file = try await lab.client.download(try download(lab))

        #expect(try lab.content == bytes)
        #expect(file.resumedBytes == 0)
        #expect(lab.ranges == [nil, "bytes=300000-", nil])
    }

    @Test func `the rest from another server counts`() async throws {
        let lab = try DownloadLab(2)
        lab.serve(content)
        lab.servers[0].fault = .truncate(after: 300_000)

        let file = try await lab.client.download(try download(lab) { $0.maximumContinuations = 1 })

        #expect(try lab.content == bytes)
        #expect(file.context.server == "secondary")
        #expect(lab.ranges == [nil, "bytes=300000-"])
    }

    @Test(arguments: [true, false])
    func `parts that come side by side count`(isRight: Bool) async throws {
        let lab = try DownloadLab()
        let long = DownloadLab.bytes(4_500_000)
        lab.serve(LoopbackContent(long, entityTag: "\"v1\""))
        let expected = try digest(of: isRight ? long : bytes)
        let parallel = lab.download {
            $0.connections = 4
            $0.digest = expected
        }

        if isRight {
            _ = try await lab.client.download(parallel)
            #expect(try lab.content == long)
        } else {
            let failure = try await lab.failure(of: parallel)
            #expect(failure.reason == .digestMismatch(expected: expected, actual: try digest(of: long)))
            #expect(try lab.files.isEmpty)
        }
        // One over again, since nobody knows which part was another's, and once more from who sent that.
        #expect(lab.server.requests.count == (isRight ? 4 : 5))
    }
}
