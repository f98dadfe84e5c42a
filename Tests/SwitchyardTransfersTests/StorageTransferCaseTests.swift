import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// Conformance cases of Google Cloud Storage for transfers with broken connections, run over sockets.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct StorageTransferCaseTests {
    private static func cases(of kind: String) throws -> [[String]] {
        let transfers = try CaseFile.root(of: "gcs_retry")["transfers"]?.array ?? []
        return transfers.filter { $0["kind"]?.string == kind }.map { item in
            #expect(item["expected_answered"]?.bool == true)
            return item["steps"]?.array?.compactMap(\.string) ?? []
        }
    }

    @Test func `a resumable upload continues after every fault that the storage case file lists`() async throws {
        let cases = try Self.cases(of: "upload")
        #expect(cases.count == 4)
        for steps in cases {
            let lab = try DownloadLab()
            let bytes = DownloadLab.bytes(9_000_000)
            let storage = StorageSession(length: bytes.count, steps: steps)
            storage.open(on: lab.server)
            var upload = UploadConfiguration(path: "upload", from: .data(bytes))
            upload.resumption = .contentRange()
            upload.request.retry = RetryPolicy(maximumRetries: 2, backoff: .constant(.zero))

            let response = try await lab.client.upload(upload)

            #expect(response.status == 200, "\(steps)")
            #expect(storage.bytes == bytes, "\(steps)")
            #expect(storage.stepsLeft.isEmpty, "\(steps)")
        }
    }

    @Test func `a download continues after the broken streams that the storage case file lists`() async throws {
        let cases = try Self.cases(of: "download")
        #expect(cases.count == 2)
        for steps in cases {
            let lab = try DownloadLab()
            let bytes = DownloadLab.bytes(700_000)
            lab.serve(LoopbackContent(bytes, entityTag: "\"v1\""))
            let faults = Locked(ArraySlice(steps.map(Self.fault)))
            let breakNext: @Sendable () -> Void = { [server = lab.server] in
                server.fault = faults.withLock { $0.popFirst() }
            }
            breakNext()

            _ = try await lab.client.download(
                lab.download {
                    $0.maximumContinuations = 3
                    $0.onEvent = { if case .interrupted = $0 { breakNext() } }
                }
            )

            #expect(try lab.content == bytes, "\(steps)")
            #expect(lab.server.requests.count == steps.count + 1, "\(steps)")
        }
    }

    private static func fault(of step: String) -> Fault {
        .truncate(after: kibibytes(in: step) ?? 100_000)
    }

    /// The number of bytes that a step such as `503-after-256K` lets pass; `nil` if the step has no number.
    fileprivate static func kibibytes(in step: String) -> Int? {
        guard step.last == "K", let count = step.dropLast().split(separator: "-").last.flatMap({ Int($0) }) else {
            return nil
        }
        return count * 1_024
    }
}

/// An upload session of a storage server that handles requests by the steps of a case.
private final class StorageSession: Sendable {
    private struct State {
        var bytes = Data()
        var steps: ArraySlice<String>
    }

    private let length: Int
    private let state: Locked<State>

    init(length: Int, steps: [String]) {
        self.length = length
        state = Locked(State(steps: ArraySlice(steps)))
    }

    var bytes: Data { state.withLock { $0.bytes } }
    var stepsLeft: ArraySlice<String> { state.withLock { $0.steps } }

    func open(on server: LoopbackServer) {
        server.route(.post, "/upload") { [self] _ in
            try refusal() ?? LoopbackResponse(status: 200, headers: ["Location": "/upload/1"])
        }
        server.route(.put, "/upload/1") { [self] request in
            if let refusal = try refusal() { return refusal }
            return try await take(request)
        }
    }

    /// Performs the next step; `nil` if there is none or if the step lets bytes pass first.
    private func refusal() throws -> LoopbackResponse? {
        let step = state.withLock { state -> String? in
            guard let step = state.steps.first, StorageTransferCaseTests.kibibytes(in: step) == nil else { return nil }
            return state.steps.popFirst()
        }
        guard let step else { return nil }
        guard let status = Int(step) else { throw CancellationError() }
        return .status(status)
    }

    private func take(_ request: LoopbackRequest) async throws -> LoopbackResponse {
        for try await piece in request.body {
            let isCut = state.withLock { state in
                let limit = state.steps.first.flatMap(StorageTransferCaseTests.kibibytes)
                state.bytes.append(piece.prefix(limit.map { $0 - state.bytes.count } ?? piece.count))
                guard state.bytes.count == limit else { return false }
                state.steps.removeFirst()
                return true
            }
            if isCut { return .status(503) }
        }
        return state.withLock { state in
            if state.bytes.count == length { return .json("{}") }
            let range: HTTPHeaders = state.bytes.isEmpty ? [:] : ["Range": "bytes=0-\(state.bytes.count - 1)"]
            return .status(308, headers: range)
        }
    }
}
