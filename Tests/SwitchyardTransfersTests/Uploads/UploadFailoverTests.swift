import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Servers that fail in the middle of a resumable upload.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadFailoverTests {
    private let bytes = DownloadLab.bytes(700_000)

    /// An upload during which the first server dies after 300,000 bytes.
    private func upload(
        killing lab: UploadLab,
        _ change: (inout UploadResumption) -> Void = { _ in }
    ) -> UploadConfiguration {
        lab.uploads.cut(after: 300_000)
        let first = lab.server
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        var resumption: UploadResumption = lab.uploads.dialect == .tus ? .tus() : .contentRange()
        resumption.onEvent = { event in if case .interrupted = event { first.fault = .refuse } }
        change(&resumption)
        upload.resumption = resumption
        return upload
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `when a server dies, the next server with the same storage receives the rest of the upload`(
        _ dialect: LoopbackUploads.Dialect
    ) async throws {
        let lab = try UploadLab(dialect, servers: 2)

        let answer = try await lab.client.upload(upload(killing: lab))

        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(answer.context.server == "secondary")
        #expect(lab.servers[1].requests.map(\.bodyCount) == [0, 400_000])
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `an upload starts again at the next server if only the dead server has its bytes`(
        _ dialect: LoopbackUploads.Dialect
    ) async throws {
        let lab = try UploadLab(dialect, servers: 2)
        let others = LoopbackUploads(dialect)
        others.open(on: lab.servers[1])

        // Several pieces, because the dead server could have received all of a single piece.
        let answer = try await lab.client.upload(upload(killing: lab) { $0.pieceLength = 400_000 })

        #expect(others.uploads.map(\.bytes) == [bytes])
        #expect(answer.context.server == "secondary")
    }

    @Test func `an upload moves away from a server that responds with 503`() async throws {
        let lab = try UploadLab(.tus, servers: 2)
        lab.server.setFault(.status(503), on: "/files/*")
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.resumption = .tus()

        let answer = try await lab.client.upload(upload)

        #expect(answer.context.server == "secondary")
        #expect(lab.uploads.uploads.last?.bytes == bytes)
    }

    @Test func `an upload moves to the next server if the offset request takes ten seconds`() async throws {
        let lab = try UploadLab(.tus, servers: 2)
        let clock = ManualClock()
        let client = try NetworkClient(service: .loopback(lab.servers, switching: .off), time: clock)
        defer { client.shutdown() }
        let (asked, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        defer { gate.continuation.finish() }
        lab.server.route(.head, "/files/*") { _ in
            asked.continuation.yield()
            for await _ in gate.stream { break }
            return LoopbackResponse()
        }
        lab.uploads.cut(after: 300_000)
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.resumption = .tus()
        let task = Task { [upload] in try await client.upload(upload) }
        for await _ in asked.stream { break }

        clock.advance(by: .seconds(10))

        #expect(try await task.value.context.server == "secondary")
        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
    }

    @Test func `if an upload has only one server, the upload continues there after a pause`() async throws {
        let lab = try UploadLab(.tus)
        let first = lab.server
        let isBack = Locked(false)
        let upload = upload(killing: lab) { resumption in
            resumption.onEvent = { event in
                guard case .interrupted = event, !isBack.withLock({ $0 }) else { return }
                first.fault = .resetBeforeHead
                isBack.withLock { $0 = true }
            }
            resumption.maximumContinuations = 50
        }
        let asked = Task {
            // A second HEAD request shows that the first one has failed.
            await until { first.requests.count { $0.method == .head } >= 2 }
            first.fault = nil
        }

        _ = try await lab.client.upload(upload)

        await asked.value
        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
    }

    @Test func `an upload moves to the next server if a server dies before the creation`() async throws {
        let lab = try UploadLab(.tus, servers: 2)
        lab.server.fault = .resetBeforeHead
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.resumption = .tus()

        let answer = try await lab.client.upload(upload)

        #expect(answer.context.server == "secondary")
        #expect(lab.uploads.uploads.last?.bytes == bytes)
    }

    @Test func `an upload fails with the last error when no server can be reached`() async throws {
        let lab = try UploadLab(.tus, servers: 2)
        let servers = lab.servers
        let upload = upload(killing: lab) { resumption in
            resumption.onEvent = { event in
                if case .interrupted = event { for server in servers { server.fault = .refuse } }
            }
        }

        let failure = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(upload) }

        guard case .transport(let error)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.kind == .connectionRefused)
    }

    /// A server outside the service to which the lab's server sends all uploads.
    private func store(besides lab: UploadLab) throws -> LoopbackServer {
        let store = LoopbackServer()
        try store.start()
        lab.uploads.open(on: store)
        lab.uploads.open(on: lab.server, sendingTo: store.baseURL)
        return store
    }

    @Test func `an upload to another host is sent without the service's header fields`() async throws {
        var options = NetworkClient.Options(seed: 1)
        options.generator.common.headers.set("X-Key", "secret")
        let lab = try UploadLab(.tus, options: options)
        let store = try store(besides: lab)
        defer { store.stop() }
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.resumption = .tus()

        let answer = try await lab.client.upload(upload)

        #expect(answer.status == 204)
        #expect(answer.context.server == nil)
        #expect(lab.uploads.uploads.first?.bytes == bytes)
        #expect(lab.server.requests.map { $0.headers["X-Key"] } == ["secret"])
        #expect(store.requests.map { $0.headers["X-Key"] } == [nil])
    }

    @Test func `an Authorization header field that the call sets is not sent to another host`() async throws {
        let lab = try UploadLab(.tus)
        let store = try store(besides: lab)
        defer { store.stop() }
        var upload = UploadConfiguration(path: "files", from: .data(bytes))
        upload.request.headers = ["Authorization": "Bearer mine", "X-Album": "7"]
        upload.resumption = .tus()

        _ = try await lab.client.upload(upload)

        #expect(lab.server.requests.map { $0.headers["Authorization"] } == ["Bearer mine"])
        #expect(store.requests.map { $0.headers["Authorization"] } == [nil])
        #expect(store.requests.map { $0.headers["X-Album"] } == ["7"])
    }

    @Test func `an upload that has moved away from both servers returns to the server that works again`() async throws {
        let lab = try UploadLab(.tus, servers: 2)
        let others = LoopbackUploads(.tus)
        others.open(on: lab.servers[1])
        others.cut(after: 300_000)
        let (first, second) = (lab.server, lab.servers[1])
        let breaks = Locked(0)
        let upload = upload(killing: lab) { resumption in
            resumption.pieceLength = 400_000
            resumption.maximumContinuations = 8
            resumption.onEvent = { event in
                guard case .interrupted = event else { return }
                let isFirst = breaks.withLock { breaks in
                    breaks += 1
                    return breaks == 1
                }
                first.fault = isFirst ? .refuse : nil
                if !isFirst { second.fault = .refuse }
            }
        }

        let answer = try await lab.client.upload(upload)

        #expect(answer.context.server == "primary")
        #expect(lab.uploads.uploads.contains { $0.bytes == bytes })
    }
}
