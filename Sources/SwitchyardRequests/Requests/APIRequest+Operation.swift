public import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

extension APIRequest {
    /// Creates a request from a custom operation, so that the operation can be a member of groups, batches and chains.
    ///
    /// - Parameters:
    ///   - tags: The tags that observers (``RequestAccessory``) receive.
    ///   - queue: The queue for all callbacks, the main queue by default.
    ///   - operation: A closure that returns the value. If the request is cancelled, the task of the operation is
    ///     cancelled.
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

    /// The decision of the closure in ``chained(_:)`` about the outcome of the first request.
    public enum ChainAction: Sendable {
        /// Sends this second request and uses its outcome.
        case pass(to: APIRequest)
        /// Uses this outcome instead of the outcome of the first request.
        case use(Outcome)
        /// Uses the outcome of the first request.
        case useThis
    }

    /// Returns a request that sends this request and then, depending on the outcome, may send a second request.
    ///
    /// - Parameter decide: Decides about the outcome of this request, on its queue. It is not called if this request
    ///   was cancelled.
    /// - Returns: The combined request. Cancelling the combined request cancels the first or second request, whichever
    ///   is running. Its ``repeated()`` repeats both requests.
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
