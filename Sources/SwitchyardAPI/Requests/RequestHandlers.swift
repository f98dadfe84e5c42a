import SwitchyardClient

/// Who is told how a request object ends, in the order in which it was added.
struct RequestHandlers<Value: Sendable> {
    typealias Outcome = Result<APIResponse<Value>, APIError>
    typealias Handler = @Sendable (Outcome) -> Void

    /// The turns: first the handlers of one outcome, then those of every outcome, last those who wait for the end.
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

/// What takes part in a request object's way apart from its handlers.
struct RequestExtras<Value: Sendable> {
    var accessories: [any RequestAccessory] = []
    var hooks: [any CallHook] = []
    var preprocessors: [@Sendable (inout APIResponse<Value>) throws -> Void] = []
    var failurePreprocessors: [@Sendable (inout APIError) -> Void] = []
    var filters: [@Sendable (inout APIResponse<Value>) throws -> Void] = []
    var failureFilters: [@Sendable (inout APIError) -> Void] = []
    var progress: [TransferProgressHandler] = []
    weak var delegate: (any APIRequestDelegate)?

    /// The configuration with those who want to hear of the progress.
    func watched(_ configuration: APIConfiguration) -> APIConfiguration {
        guard !progress.isEmpty else { return configuration }
        var watched = configuration
        let handlers = [configuration.progress].compactMap(\.self) + progress
        watched.progress = { report in
            for handler in handlers { handler(report) }
        }
        return watched
    }

    /// The outcome after the preprocessors.
    func preprocessed(_ outcome: Result<APIResponse<Value>, APIError>) -> Result<APIResponse<Value>, APIError> {
        Self.changed(outcome, preprocessors, failurePreprocessors)
    }

    /// The outcome after the filters.
    func filtered(_ outcome: Result<APIResponse<Value>, APIError>) -> Result<APIResponse<Value>, APIError> {
        Self.changed(outcome, filters, failureFilters)
    }

    private static func changed(
        _ outcome: Result<APIResponse<Value>, APIError>,
        _ ofSuccess: [@Sendable (inout APIResponse<Value>) throws -> Void],
        _ ofFailure: [@Sendable (inout APIError) -> Void]
    ) -> Result<APIResponse<Value>, APIError> {
        switch outcome {
        case .success(var response):
            do {
                for change in ofSuccess { try change(&response) }
                return .success(response)
            } catch {
                return .failure(APIError(error))
            }
        case .failure(var error):
            for change in ofFailure { change(&error) }
            return .failure(error)
        }
    }
}
