import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// A server that received all bytes may have stored the upload, so no second copy is sent.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadedTwiceTests {
    private let bytes = DownloadLab.bytes(100_000)

    /// Servers with separate storage; the first server reads all bytes and resets the connection.
    private struct Backend {
        let lab: UploadLab
        let others: LoopbackUploads
        var opened: Int { lab.uploads.uploads.count + others.uploads.count }

        init(_ dialect: LoopbackUploads.Dialect, servers: Int) throws {
            lab = try UploadLab(dialect, servers: servers)
            others = LoopbackUploads(dialect)
            for server in lab.servers.dropFirst() { others.open(on: server) }
            let route: HTTPMethod = dialect == .tus ? .patch : .put
            lab.server.route(route, "/files/*") { request in
                if request.headers["Content-Range"]?.hasPrefix("bytes */") == true {
                    return LoopbackResponse(status: 503)
                }
                _ = try await request.body.collect()
                throw CancellationError()
            }
        }

        func upload(_ source: UploadSource, _ event: @escaping @Sendable (UploadEvent) -> Void) -> UploadConfiguration {
            var upload = UploadConfiguration(path: "files", from: source)
            var resumption: UploadResumption = lab.uploads.dialect == .tus ? .tus() : .contentRange()
            resumption.maximumContinuations = 2
            resumption.onEvent = event
            upload.resumption = resumption
            return upload
        }
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `an upload does not move to another server after all bytes were sent`(
        _ dialect: LoopbackUploads.Dialect
    ) async throws {
        let backend = try Backend(dialect, servers: 2)
        let first = backend.lab.server
        let upload = backend.upload(.data(bytes)) { if case .interrupted = $0 { first.fault = .refuse } }

        let failure = await #expect(throws: RequestFailure.self) { _ = try await backend.lab.client.upload(upload) }

        #expect(failure?.mayHaveBeenExecuted == true)
        #expect(backend.others.uploads.isEmpty)
    }

    @Test(arguments: [403, 400, 503])
    func `no second upload is created if the server reports no offset after all bytes were sent`(_ status: Int)
        async throws
    {
        let backend = try Backend(.tus, servers: 1)
        backend.lab.server.route(.head, "/files/*") { _ in LoopbackResponse(status: status) }
        let upload = backend.upload(.data(bytes)) { _ in }

        let result = await Result { try await backend.lab.client.upload(upload) }

        switch result {
        case .success(let response):
            #expect(response.status == status)
            #expect(response.context.mayHaveBeenExecuted)
        case .failure(let error): #expect((error as? RequestFailure)?.mayHaveBeenExecuted == true)
        }
        #expect(backend.opened == 1)
    }

    @Test func `a second copy of an upload is sent if its request may be repeated`() async throws {
        let backend = try Backend(.tus, servers: 2)
        let first = backend.lab.server
        var upload = backend.upload(.data(bytes)) { if case .interrupted = $0 { first.fault = .refuse } }
        upload.request.mayBeRepeated = true

        #expect(try await backend.lab.client.upload(upload).context.server == "secondary")
        #expect(backend.others.uploads.map(\.bytes) == [bytes])
    }

    @Test func `a later call asks the same server and creates no second upload`() async throws {
        let backend = try Backend(.tus, servers: 2)
        let first = backend.lab.server
        let file = backend.lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        var upload = backend.upload(.file(file)) { if case .interrupted = $0 { first.fault = .refuse } }
        upload.resumption?.directory = backend.lab.keptFolder
        for _ in 0..<2 {
            let failure = await #expect(throws: RequestFailure.self) { _ = try await backend.lab.client.upload(upload) }
            #expect(failure?.mayHaveBeenExecuted == true)
        }

        #expect(backend.others.uploads.isEmpty)
        #expect(backend.lab.records.count == 1)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
