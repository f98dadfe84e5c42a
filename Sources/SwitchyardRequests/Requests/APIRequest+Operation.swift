public import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

extension APIRequest {
    /// Creates a request from an operation of your own, so that it can join groups, batches and chains.
    ///
    /// - Parameters:
    ///   - tags: The tags for accessories.
    ///   - queue: The queue for all callbacks, the main queue by default.
    ///   - operation: Returns the value. Its task is cancelled with the request.
    public convenience init(
        tags: Set<String> = [],
        on queue: DispatchQueue = .main,
        _ operation: @escaping @Sendable () async throws -> Value
    ) {
        var configuration = APIConfiguration()
        configuration.tags = tags
        self.init(configuration, on: queue, mayHaveEffect: { _ in true }) { _, _, completion in
            let task = Task {
                do {
                    completion(.success(APIResponse(value: try await operation(), status: 200)))
                } catch {
                    completion(.failure(APIError(error)))
                }
            }
            return { task.cancel() }
        }
    }

    /// The decision about an outcome that another request may follow.
    public enum ChainAction: Sendable {
        /// Another request is sent, and its outcome is used.
        case pass(to: APIRequest)
        /// Another outcome is used.
        case use(Outcome)
        /// The outcome is used as it is.
        case useThis
    }

    /// Returns a request that sends this one and then decides by its outcome; ``repeated()`` repeats both.
    ///
    /// - Parameter decide: Decides about the outcome on this request's queue, unless the request was cancelled.
    /// - Returns: The request, whose cancellation cancels whichever request is running.
    public func chained(_ decide: @escaping @Sendable (Outcome) -> ChainAction) -> APIRequest {
        let wasMade = Locked(false)
        return APIRequest(
            configuration,
            onSerial: queue,
            completed: completed,
            mayHaveEffect: { _ in true }
        ) { [self] _, _, completion in
            let isAgain = wasMade.withLock { wasMade in
                defer { wasMade = true }
                return wasMade
            }
            let first = isAgain ? repeated() : self
            let current = CurrentMember(first)
            first.onFinish { outcome in
                if case .failure(let error) = outcome, error.isCancellation { return completion(outcome) }
                switch decide(outcome) {
                case .useThis: completion(outcome)
                case .use(let other): completion(other)
                case .pass(let next):
                    current.replace(with: next)
                    next.onFinish(completion)
                    next.resume()
                }
            }
            first.resume()
            return { current.cancel() }
        }
    }
}
