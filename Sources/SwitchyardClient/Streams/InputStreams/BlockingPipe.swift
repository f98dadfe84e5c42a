import Foundation

/// The bounded buffer between a body, which comes in a task, and a reader that blocks its thread.
///
/// @unchecked is sound: all that varies is in `state`, behind the condition's lock.
final class BlockingPipe: @unchecked Sendable {
    private static let capacity = 1 << 20

    private struct State {
        var buffer = Data()
        var end: Result<Void, RequestFailure>?
        var isClosed = false
        var room: CheckedContinuation<Void, Never>?
    }

    private let condition = NSCondition()
    private var state = State()

    // MARK: The writer's side

    /// Hands a piece to the reader, and waits for room; `false` when nobody reads any more.
    func write(_ piece: Data) async -> Bool {
        withLock { state in
            state.buffer.append(piece)
            condition.broadcast()
        }
        await withCheckedContinuation { continuation in
            let isRoom = withLock { state in
                guard !state.isClosed, state.buffer.count >= Self.capacity else { return true }
                state.room = continuation
                return false
            }
            if isRoom { continuation.resume() }
        }
        return withLock { !$0.isClosed }
    }

    /// Takes note of the end; what is buffered can still be read.
    func finish(_ end: Result<Void, RequestFailure>) {
        withLock { state in
            state.end = end
            condition.broadcast()
        }
    }

    // MARK: The reader's side

    /// Waits for bytes; 0 at the end, -1 after a failure or the close.
    func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        let (result, room): (Int, CheckedContinuation<Void, Never>?) = withLock { state in
            while state.buffer.isEmpty, state.end == nil, !state.isClosed { condition.wait() }
            let taken = min(max(0, count), state.buffer.count)
            guard taken > 0 else {
                if case .success = state.end, !state.isClosed { return (0, nil) }
                return (state.buffer.isEmpty ? -1 : 0, nil)
            }
            state.buffer.copyBytes(to: buffer, count: taken)
            state.buffer = Data(state.buffer.dropFirst(taken))
            guard state.buffer.count < Self.capacity else { return (taken, nil) }
            defer { state.room = nil }
            return (taken, state.room)
        }
        room?.resume()
        return result
    }

    /// Whether everything was read, or nothing more will come.
    var isAtEnd: Bool { withLock { $0.buffer.isEmpty && $0.end != nil } }

    /// Why the body broke off, once all before was read.
    var failure: RequestFailure? {
        withLock { state in
            guard state.buffer.isEmpty, case .failure(let error) = state.end else { return nil }
            return error
        }
    }

    /// Lets go of whoever waits.
    func close() {
        let room = withLock { state in
            state.isClosed = true
            state.buffer = Data()
            condition.broadcast()
            defer { state.room = nil }
            return state.room
        }
        room?.resume()
    }

    private func withLock<Value>(_ body: (inout State) -> Value) -> Value {
        condition.lock()
        defer { condition.unlock() }
        return body(&state)
    }
}
