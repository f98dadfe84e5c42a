import Dispatch
import Foundation
import Switchyard

/// Functions that end work in an orderly way if the user or the system requests it.
enum Interruption {
    /// Runs work that is cancelled by SIGINT or SIGTERM, or if the reader of the output has gone.
    ///
    /// - Parameter work: The work, which must end soon after its task is cancelled.
    /// - Returns: The result of the work, and the signal that ended it or `nil` if it ended by itself.
    /// - Throws: The error of the work.
    static func watch<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, signal: Int32?) {
        let task = Task { try await work() }
        let caught = Locked<Int32?>(nil)
        // If SIGPIPE is ignored, a write fails instead, and the terminal then ends the process by SIGTERM.
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the event handler is called.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                caught.withLock { $0 = number }
                // A second signal ends the process immediately.
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
