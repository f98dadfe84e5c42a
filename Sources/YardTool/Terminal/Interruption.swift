import Dispatch
import Foundation
import Switchyard

/// Ends work in an orderly way when the user, or the system, asks for it.
enum Interruption {
    /// Does work that is cancelled by SIGINT or SIGTERM, or when nobody reads the output any more.
    ///
    /// - Parameter work: The work; it ends soon after its task is cancelled.
    /// - Returns: What the work returned, and the signal that ended it; `nil` when it ended by itself.
    /// - Throws: What the work throws.
    static func watch<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, signal: Int32?) {
        let task = Task { try await work() }
        let caught = Locked<Int32?>(nil)
        // A write then fails instead, and the terminal asks for the end.
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the source is asked.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                caught.withLock { $0 = number }
                // Whoever asks a second time does not want to wait.
                signal(number, SIG_DFL)
                task.cancel()
            }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        }
        let value = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
        return (value, caught.withLock { $0 })
    }
}
