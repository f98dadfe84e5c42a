public import SwitchyardAPI
public import SwitchyardClient
import SwitchyardTransport

/// The handlers of a request object, in the order in which they were added.
struct RequestHandlers<Value: Sendable> {
    typealias Outcome = Result<APIResponse<Value>, APIError>
    typealias Handler = @Sendable (Outcome) -> Void

    /// The kinds of handlers in calling order.
    ///
    /// Handlers for success, failure or cancellation (`own`) come first, then handlers for every outcome, then
    /// observers of the end.
    enum Kind { case own, finished, ended }

    private var own: [Handler] = []
    private var finished: [Handler] = []
    private var ended: [Handler] = []

    mutating func add(_ handler: @escaping Handler, _ kind: Kind) {
        switch kind {
        case .own: own.append(handler)
        case .finished: finished.append(handler)
        case .ended: ended.append(handler)
        }
    }

    func callOwn(_ outcome: Outcome) {
        for handler in own { handler(outcome) }
        for handler in finished { handler(outcome) }
    }

    func callEnded(_ outcome: Outcome) {
        for handler in ended { handler(outcome) }
    }
}

/// The observers, hooks, filters and other closures of a request object, apart from its handlers.
struct RequestExtras<Value: Sendable> {
    typealias Outcome = Result<APIResponse<Value>, APIError>

    var accessories: [any RequestAccessory] = []
    var hooks: [any CallHook] = []
    var preprocessors: [@Sendable (inout APIResponse<Value>) throws -> Void] = []
    var failurePreprocessors: [@Sendable (inout APIError) -> Void] = []
    var filters: [@Sendable (inout APIResponse<Value>) throws -> Void] = []
    var failureFilters: [@Sendable (inout APIError) -> Void] = []
    var progress: [TransferProgressHandler] = []
    weak var delegate: (any APIRequestDelegate)?

    /// Returns the configuration with the progress handlers added.
    func watched(_ configuration: APIConfiguration) -> APIConfiguration {
        guard !progress.isEmpty else { return configuration }
        var watched = configuration
        let handlers = [configuration.progress].compactMap(\.self) + progress
        watched.progress = { report in
            for handler in handlers { handler(report) }
        }
        return watched
    }

    /// Returns the outcome as changed by the preprocessors.
    func preprocessed(_ outcome: Outcome, of id: RequestID) -> Outcome {
        Self.changed(outcome, of: id, preprocessors, failurePreprocessors)
    }

    /// Returns the outcome as changed by the filters.
    func filtered(_ outcome: Outcome, of id: RequestID) -> Outcome {
        Self.changed(outcome, of: id, filters, failureFilters)
    }

    private static func changed(
        _ outcome: Outcome,
        of id: RequestID,
        _ ofSuccess: [@Sendable (inout APIResponse<Value>) throws -> Void],
        _ ofFailure: [@Sendable (inout APIError) -> Void]
    ) -> Outcome {
        switch outcome {
        case .success(var response):
            do {
                for change in ofSuccess { try change(&response) }
                return .success(response)
            } catch {
                return .failure(response.failure(error, of: id))
            }
        case .failure(let error) where error.isCancellation:
            return outcome
        case .failure(var error):
            for change in ofFailure { change(&error) }
            return .failure(error)
        }
    }
}

extension APIResponse {
    /// Returns the error with which the request fails when a filter or preprocessor throws.
    ///
    /// The error receives the context of the response (service, status, header fields). An error that already has a
    /// service in its context comes from another call and keeps its context.
    func failure(_ error: any Error, of id: RequestID) -> APIError {
        var error = APIError(error)
        guard error.context.service == nil else {
            // The error belongs to another call, but a server may have executed the call of this request.
            if context?.mayHaveTakenEffect == true { error.context.mayHaveBeenExecuted = true }
            return error
        }
        let underlying = error.context.underlying
        error.context = context.map { APIError.Context($0) } ?? APIError.Context()
        error.context.requestID = id
        error.context.underlying = underlying
        error.context.status = status
        error.context.headers = headers
        return error
    }
}

/// A delegate that is notified when a request object ends.
///
/// Every method has a default implementation. The methods are called on the request's queue, before the request's
/// handlers.
public protocol APIRequestDelegate: AnyObject, Sendable {
    /// Called when the request has succeeded with a value.
    func requestDidFinish(_ id: RequestID)
    /// Called when the request has failed.
    func request(_ id: RequestID, didFailWith error: APIError)
    /// Called when the request was cancelled.
    func requestWasCancelled(_ id: RequestID)
}

extension APIRequestDelegate {
    /// Does nothing.
    public func requestDidFinish(_ id: RequestID) {}
    /// Does nothing.
    public func request(_ id: RequestID, didFailWith error: APIError) {}
    /// Does nothing.
    public func requestWasCancelled(_ id: RequestID) {}
}
