import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting

@testable import SwitchyardClient

extension RoundResult {
    /// A finished round for decisions by value.
    static func sample(
        method: HTTPMethod = .get,
        status: Int? = nil,
        headers: HTTPHeaders = [:],
        failure: TransportError? = nil,
        after history: [DispatchContext.RoundRecord] = []
    ) -> RoundResult {
        let id = RequestID()
        let place = RequestContext(service: "topics", environment: .test, method: method)
        let result: Result<ServiceResponse, RequestFailure> =
            if let status {
                .success(
                    ServiceResponse(id: id, response: HTTPResponse(status: status, headers: headers), context: place)
                )
            } else {
                .failure(RequestFailure(failure.map { .transport($0) } ?? .cancelled, id: id, context: place))
            }
        let context = DispatchContext(
            id: id,
            round: history.count + 1,
            service: "topics",
            environment: .test,
            startedAt: .zero,
            deadline: .distantFuture,
            history: history,
            time: ManualClock(),
            owner: 0,
            end: { _ in },
            preferred: { "primary" }
        )
        return RoundResult(configuration: APIConfiguration(path: "x", method: method), context: context, result: result)
    }
}
