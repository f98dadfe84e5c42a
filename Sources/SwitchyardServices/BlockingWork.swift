import Dispatch

/// Runs blocking work, such as disk access, on a thread that is allowed to block.
package enum BlockingWork {
    /// Runs `body` on a global dispatch queue, outside the threads of Swift's cooperative pool.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { () throws(Failure) in try body() })
            }
        }
        return try result.get()
    }
}
