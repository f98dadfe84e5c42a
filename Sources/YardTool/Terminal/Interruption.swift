import Dispatch
import Foundation
import Switchyard

/// Functions that end work in an orderly way when the user or the system interrupts the process.
enum Interruption {
    /// Runs work in a task.
    ///
    /// The task is cancelled by SIGINT or SIGTERM, or if the program that reads the output has ended.
    ///
    /// - Parameter work: The work, which must end soon after its task is cancelled.
    /// - Returns: The result of the work, and the signal that interrupted it, or `nil` if it was not interrupted.
    /// - Throws: The error of the work.
    static func watch<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, signal: Int32?) {
        let task = Task { try await work() }
        let caught = Locked<Int32?>(nil)
        // With SIGPIPE ignored, writing to a closed pipe fails instead of ending the process. `Terminal` then sends
        // SIGTERM to the process.
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGINT, SIGTERM].map { number in
            // The signal is ignored because its default action would end the process before the event handler is
            // called.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                caught.withLock { $0 = number }
                // With the default action restored, a second signal ends the process immediately.
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
