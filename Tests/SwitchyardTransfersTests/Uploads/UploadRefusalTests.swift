import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Error responses to a resumable upload, and their effect on its record.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct UploadRefusalTests {
    private let bytes = DownloadLab.bytes(700_000)

    private func file(_ lab: UploadLab) throws -> URL {
        let file = lab.folder.appendingPathComponent("up.bin")
        try bytes.write(to: file)
        return file
    }

    /// A lab in which an upload was cut after 300,000 bytes, and the same upload for a later call.
    private func cutLab(
        _ dialect: LoopbackUploads.Dialect,
        continuations: Int
    ) async throws -> (UploadLab, UploadConfiguration) {
        let lab = try UploadLab(dialect)
        let file = try file(lab)
        try await lab.cut(file)
        var upload = lab.keptUpload(of: file)
        upload.resumption?.maximumContinuations = continuations
        return (lab, upload)
    }

    /// Responds to the next upload requests with a status, like a proxy in front of the server.
    private func refuse(_ status: Int, times: Int = 1, of method: HTTPMethod, at lab: UploadLab) {
        let left = Locked(times)
        lab.uploads.intercept { request in
            guard request.method == method else { return nil }
            return left.withLock { left in
                guard left > 0 else { return nil }
                left -= 1
                return LoopbackResponse.status(status)
            }
        }
    }

    private static let unsettled = [408, 423, 425, 429, 500, 501, 502, 503, 504, 507, 509, 511, 520, 524, 530]

    @Test(arguments: unsettled, [HTTPMethod.patch, .head])
    func `an upload continues after a transient error response`(
        status: Int,
        method: HTTPMethod
    ) async throws {
        let (lab, upload) = try await cutLab(.tus, continuations: 3)
        refuse(status, of: method, at: lab)

        let response = try await lab.client.upload(upload)

        #expect(response.status == 204)
        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(lab.records.isEmpty)
    }

    @Test(arguments: [401, 407, 500, 501, 507, 520, 524, 530, 400, 403, 412, 415])
    func `the upload record stays after an error response other than 404 and 410`(status: Int) async throws {
        for method in [HTTPMethod.patch, .head] {
            let (lab, upload) = try await cutLab(.tus, continuations: 0)
            refuse(status, times: .max, of: method, at: lab)

            let response = try await lab.client.upload(upload)

            #expect(response.status == status)
            #expect(lab.records.count == 1, "\(method)")
        }
    }

    @Test(arguments: [404, 410])
    func `the upload record is removed after a 404 or 410 response`(status: Int) async throws {
        let (lab, upload) = try await cutLab(.tus, continuations: 0)
        refuse(status, of: .head, at: lab)

        _ = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(upload) }

        #expect(lab.records.isEmpty)
    }

    @Test(arguments: [403, 405, 412])
    func `a new upload is created if the server refuses to report the offset`(status: Int) async throws {
        let (lab, upload) = try await cutLab(.tus, continuations: 1)
        refuse(status, of: .head, at: lab)

        #expect(try await lab.client.upload(upload).status == 204)

        #expect(lab.uploads.uploads.map(\.isComplete) == [false, true])
        #expect(lab.records.isEmpty)
    }

    @Test(arguments: [(LoopbackUploads.Dialect.tus, 100_000), (.tus, 300_000), (.contentRange, 300_000)])
    func `a request that is too large for the server is halved until the server accepts it`(
        dialect: LoopbackUploads.Dialect,
        limit: Int
    ) async throws {
        let lab = try UploadLab(dialect)
        let events = Recorder<UploadEvent>()
        var upload = lab.keptUpload(of: try file(lab))
        upload.resumption?.onEvent = { events.record($0) }
        lab.uploads.intercept { request in
            let length = request.headers["Content-Length"].flatMap { Int($0) } ?? 0
            return length > limit ? LoopbackResponse.status(413) : nil
        }

        let response = try await lab.client.upload(upload)

        #expect(200..<300 ~= response.status)
        #expect(lab.uploads.uploads.map(\.bytes) == [bytes])
        #expect(events.values.contains { if case .shortened = $0 { true } else { false } })
    }

    @Test(arguments: LoopbackUploads.Dialect.allCases)
    func `an upload ends with 413 if the server accepts no request size, and the record stays`(
        dialect: LoopbackUploads.Dialect
    ) async throws {
        let lab = try UploadLab(dialect)
        let upload = lab.keptUpload(of: try file(lab))
        lab.uploads.intercept { request in
            let length = request.headers["Content-Length"].flatMap { Int($0) } ?? 0
            return length > 0 ? LoopbackResponse.status(413) : nil
        }

        #expect(try await lab.client.upload(upload).status == 413)

        #expect(lab.records.count == 1)
    }
}
