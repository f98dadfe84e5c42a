import Dispatch
import SwitchyardHTTP

/// An exchange that has failed before there was anything to cancel.
struct RefusedExchange: TransportTask {
    /// Tells of the failure, not from within this call: the caller may hold what its completion needs.
    init(
        _ error: TransportError,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) {
        DispatchQueue.global().async { completion(.failure(error)) }
    }

    func cancel() {}

    func withdraw() -> Bool { true }
}
