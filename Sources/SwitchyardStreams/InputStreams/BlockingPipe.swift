import Foundation
import SwitchyardClient
import SwitchyardServices

/// A bounded buffer between a task that receives a body and a thread that reads the body and blocks until bytes arrive.
///
/// `@unchecked Sendable` is sound: all mutable state is in `state`, protected by the condition's lock.
final class BlockingPipe: @unchecked Sendable {
    private static let capacity = 1 << 20

    private struct State {
        /// The unread chunks.
        ///
        /// The chunks are not joined, so that a read copies only the bytes that it returns.
        var pieces: ArraySlice<Data> = []
        var count = 0
        var end: Result<Void, RequestFailure>?
        var isClosed = false
        var room: CheckedContinuation<Void, Never>?

        mutating func append(_ piece: Data) {
            guard !piece.isEmpty else { return }
            pieces.append(piece)
            count += piece.count
        }

        /// Moves at most `most` bytes into a buffer, and returns their number.
        mutating func take(into buffer: UnsafeMutablePointer<UInt8>, atMost most: Int) -> Int {
            var taken = 0
            while taken < most, let piece = pieces.popFirst() {
                let part = piece.prefix(most - taken)
                part.copyBytes(to: buffer + taken, count: part.count)
                taken += part.count
                let rest = piece.dropFirst(part.count)
                if !rest.isEmpty { pieces.insert(rest, at: pieces.startIndex) }
            }
            count -= taken
            return taken
        }
    }

    private let condition = NSCondition()
    private var state = State()

    // MARK: Writing

    /// Adds a chunk to the buffer and waits until there is room for another chunk.
    ///
    /// Returns `false` if the pipe is closed.
    func write(_ piece: Data) async -> Bool {
        withLock { state in
            state.append(piece)
            condition.broadcast()
        }
        await withCheckedContinuation { continuation in
            let isRoom = withLock { state in
                guard !state.isClosed, state.count >= Self.capacity else { return true }
                state.room = continuation
                return false
            }
            if isRoom { continuation.resume() }
        }
        return withLock { !$0.isClosed }
    }

    /// Records the end of the body.
    ///
    /// The reader can still read the buffered bytes.
    func finish(_ end: Result<Void, RequestFailure>) {
        withLock { state in
            state.end = end
            condition.broadcast()
        }
    }

    /// Ends the pipe with a failure immediately, and drops the buffered bytes.
    func fail(_ failure: RequestFailure) {
        let room = withLock { state in
            state.pieces = []
            state.count = 0
            state.end = .failure(failure)
            condition.broadcast()
            defer { state.room = nil }
            return state.room
        }
        room?.resume()
    }

    // MARK: Reading

    /// Waits for bytes, copies them into the buffer, and returns their number.
    ///
    /// Returns 0 at the end of the body, and -1 after a failure or after the pipe was closed.
    func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        let (result, room): (Int, CheckedContinuation<Void, Never>?) = withLock { state in
            while state.count == 0, state.end == nil, !state.isClosed { condition.wait() }
            let taken = state.take(into: buffer, atMost: count)
            guard taken > 0 else {
                if case .success = state.end, !state.isClosed { return (0, nil) }
                return (state.count == 0 ? -1 : 0, nil)
            }
            guard state.count < Self.capacity else { return (taken, nil) }
            defer { state.room = nil }
            return (taken, state.room)
        }
        room?.resume()
        return result
    }

    /// Whether all bytes were read and no more will arrive.
    var isAtEnd: Bool { withLock { $0.count == 0 && $0.end != nil } }

    /// The failure that interrupted the body, or `nil` until all bytes before the failure were read.
    var failure: RequestFailure? {
        withLock { state in
            guard state.count == 0, case .failure(let error) = state.end else { return nil }
            return error
        }
    }

    /// Closes the pipe, and resumes the waiting reader and the waiting writer.
    func close() {
        let room = withLock { state in
            state.isClosed = true
            state.pieces = []
            state.count = 0
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
