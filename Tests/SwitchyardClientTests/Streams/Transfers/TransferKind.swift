import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import SwitchyardTransfers

/// The ways in which a client transfers a large body.
enum TransferKind: String, CaseIterable, Sendable {
    case download, parallelDownload, stream, events, upload, streamedUpload

    static let content = DownloadLab.bytes(200_000)
    static let large = DownloadLab.bytes(3 << 20)

    /// Sets up a lab's servers for all kinds.
    ///
    /// If `refusal` returns a response, it is sent instead.
    static func serve(
        on lab: DownloadLab,
        refusing refusal: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse? = { _ in nil }
    ) {
        let parts = LoopbackContent(large, entityTag: "\"v1\"")
        for server in lab.servers {
            server.route(.get, "/film") {
                refusal($0) ?? LoopbackContent(content, entityTag: "\"v1\"").response(to: $0)
            }
            server.route(.get, "/large") { refusal($0) ?? parts.response(to: $0) }
            server.route(.get, "/news") { request in
                refusal(request)
                    ?? LoopbackResponse(
                        headers: ["Content-Type": "text/event-stream"],
                        body: .data(Data("data: one\n\n".utf8))
                    )
            }
            server.route(.post, "/up") { request in
                let body = try await request.body.collect()
                return refusal(request) ?? .text("\(body.count)")
            }
        }
    }

    /// The path of the request.
    var path: String {
        switch self {
        case .download, .stream: "film"
        case .parallelDownload: "large"
        case .events: "news"
        case .upload, .streamedUpload: "up"
        }
    }

    /// Runs the transfer and returns the bytes that arrived.
    func run(
        on lab: DownloadLab,
        _ change: (inout APIConfiguration) -> Void = { _ in }
    ) async throws -> Data {
        var request = APIConfiguration(path: path)
        switch self {
        case .download, .parallelDownload:
            change(&request)
            var download = DownloadConfiguration(request, to: .file(lab.target))
            download.connections = self == .parallelDownload ? 3 : 1
            _ = try await lab.client.download(download)
            return try lab.content
        case .stream:
            change(&request)
            let answer = try await lab.client.stream(request)
            return try await answer.bytes.collect(upTo: 1 << 20)
        case .events:
            change(&request)
            for try await event in lab.client.eventSource(request) { return Data(event.data.utf8) }
            return Data()
        case .upload, .streamedUpload:
            request.method = .post
            change(&request)
            let stream = HTTPBody.Stream.of([Self.content], length: nil)
            let source: UploadSource = self == .upload ? .data(Self.content) : .stream(stream)
            let answer = try await lab.client.upload(UploadConfiguration(request, from: source))
            return answer.data ?? Data()
        }
    }

    /// The result of ``run(on:_:)`` on success.
    var expected: Data {
        switch self {
        case .download, .stream: Self.content
        case .parallelDownload: Self.large
        case .events: Data("one".utf8)
        case .upload, .streamedUpload: Data("200000".utf8)
        }
    }

    /// The reason of a failed transfer, or `nil` on success.
    func failure(on lab: DownloadLab) async -> RequestFailure.Reason? {
        do {
            _ = try await run(on: lab)
            return nil
        } catch let failure as RequestFailure {
            return failure.reason
        } catch let failure as DownloadFailure {
            if case .request(let reason) = failure.reason { return reason }
            return nil
        } catch {
            if case .request(let failure)? = error as? EventSourceFailure { return failure.reason }
            return nil
        }
    }
}
