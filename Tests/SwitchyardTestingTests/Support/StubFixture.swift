import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

extension HTTPRequest {
    /// A request to a host that does not exist.
    static func stub(_ path: String, method: HTTPMethod = .get, delivery: Delivery = .whole) -> HTTPRequest {
        guard let url = RequestURL("http://stub.test\(path)") else {
            preconditionFailure("the path of a test makes no URL: \(path)")
        }
        return HTTPRequest(method: method, url: url, delivery: delivery)
    }
}

extension Transport {
    /// Sends a request and waits for its completion.
    func outcome(
        of request: HTTPRequest,
        progress: TransferProgressHandler? = nil
    ) async -> Result<HTTPResponse, TransportError> {
        await withCheckedContinuation { continuation in
            _ = start(request, progress: progress) { continuation.resume(returning: $0) }
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension HTTPResponse {
    /// The whole body as text.
    var text: String {
        get throws {
            guard case .whole(let bytes) = body else { throw StubFixtureError.streamed }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The body as a stream.
    var stream: HTTPBodyStream {
        get throws {
            guard case .stream(let stream) = body else { throw StubFixtureError.whole }
            return stream
        }
    }
}

enum StubFixtureError: Error {
    case streamed
    case whole
}
