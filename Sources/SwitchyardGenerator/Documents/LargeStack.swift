import Foundation

/// Runs a function on a thread whose stack is large enough for deeply nested documents.
enum LargeStack {
    private static let bytes = 512 << 20

    /// The result of the function.
    ///
    /// The thread writes it once, before the semaphore is signalled. The caller reads it after the wait. Therefore the
    /// accesses never overlap.
    private final class Box<Value: Sendable>: @unchecked Sendable {
        var result: Result<Value, GeneratorError>?
    }

    /// Runs a function on a thread of its own and waits for its result.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(GeneratorError) -> Value
    ) throws(GeneratorError) -> Value {
        let box = Box<Value>()
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            box.result = Result(catching: body)
            done.signal()
        }
        thread.stackSize = bytes
        thread.start()
        done.wait()
        guard let result = box.result else {
            throw GeneratorError("the thread of the generator ended without a result")
        }
        return try result.get()
    }
}
