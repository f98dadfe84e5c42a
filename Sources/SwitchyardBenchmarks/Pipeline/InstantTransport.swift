import Foundation
import Switchyard

/// A transport that responds immediately on the calling thread, so that only the library's own cost remains.
struct InstantTransport: Transport {
    private struct Task: TransportTask {
        func cancel() {}
    }

    let response: HTTPResponse

    init(json: String) {
        response = HTTPResponse(
            status: 200,
            headers: ["Content-Type": "application/json", "Content-Length": "\(json.utf8.count)"],
            body: .whole(Data(json.utf8))
        )
    }

    func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        completion(.success(response))
        return Task()
    }

    func shutdown() {}
}
