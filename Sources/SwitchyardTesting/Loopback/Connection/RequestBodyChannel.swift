import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// A channel with a bounded buffer that passes the body of a request from the event loop to the handler.
final class RequestBodyChannel: Sendable {
    private typealias Outcome = Result<Data?, LoopbackError>

    private struct State {
        var pieces: [Data] = []
        var bufferedCount = 0
        var end: Result<HTTPHeaders, LoopbackError>?
        var waiters: [(number: Int, continuation: CheckedContinuation<Outcome, Never>)] = []
        var lastWaiter = 0
        /// The numbers that identify the waiters that were cancelled before their wait started.
        var cancelled: Set<Int> = []
        var hasBeenAskedFor = false
        var isDiscarding = false
        var isPaused = false
    }

    private let capacity: Int
    private let state = Locked(State())
    /// A callback that notifies the event loop that the handler wants to read bytes.
    private let demand: @Sendable () -> Void

    init(capacity: Int, demand: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.demand = demand
    }

    /// Whether the event loop must stop reading the body from the client.
    var isFull: Bool {
        state.withLock { state in
            // If a handler is waiting, the event loop must read the next bytes even if the capacity is 0.
            let isWanted = state.isDiscarding || !state.waiters.isEmpty
            state.isPaused = !isWanted && state.end == nil && state.bufferedCount >= capacity
            return state.isPaused
        }
    }

    var trailers: HTTPHeaders {
        state.withLock { state in
            guard state.pieces.isEmpty, case .success(let trailers) = state.end else { return HTTPHeaders() }
            return trailers
        }
    }
}

// MARK: - Event loop

extension RequestBodyChannel {
    /// Buffers a chunk, or passes it to a waiting handler.
    func push(_ piece: Data) {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard !state.isDiscarding, state.end == nil else { return nil }
            if !state.waiters.isEmpty { return state.waiters.removeFirst().continuation }
            state.pieces.append(piece)
            state.bufferedCount += piece.count
            return nil
        }
        waiter?.resume(returning: .success(piece))
    }

    /// Ends the body, with trailers or with an error.
    ///
    /// Only the first call has an effect.
    func finish(_ end: Result<HTTPHeaders, LoopbackError>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome, Never>] in
            guard state.end == nil else { return [] }
            state.end = end
            defer { state.waiters = [] }
            return state.waiters.map(\.continuation)
        }
        for waiter in waiters { waiter.resume(returning: end.map { _ in nil }) }
    }

    /// Discards buffered and future bytes, because the handler will not read them.
    func discard() {
        state.withLock { state in
            state.isDiscarding = true
            state.pieces = []
            state.bufferedCount = 0
        }
    }
}

// MARK: - Handler

extension RequestBodyChannel {
    /// Returns the next chunk, or `nil` at the end.
    func next() async throws(LoopbackError) -> Data? {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, $0) }
        } onCancel: {
            cancel(number)
        }
        return try outcome.get()
    }

    private func wait(_ number: Int, _ continuation: CheckedContinuation<Outcome, Never>) {
        let (outcome, wantsMore) = state.withLock { state -> (Outcome?, Bool) in
            let isFirst = !state.hasBeenAskedFor
            state.hasBeenAskedFor = true
            if let outcome = Self.take(&state) {
                let resumes = state.isPaused && state.bufferedCount < capacity / 2
                if resumes { state.isPaused = false }
                return (outcome, isFirst || resumes)
            }
            if state.cancelled.remove(number) != nil { return (.failure(.cancelled), isFirst) }
            state.waiters.append((number, continuation))
            // The event loop must be woken only if it has stopped reading because the buffer was full.
            defer { state.isPaused = false }
            return (nil, isFirst || state.isPaused)
        }
        if let outcome { continuation.resume(returning: outcome) }
        if wantsMore { demand() }
    }

    private static func take(_ state: inout State) -> Outcome? {
        if !state.pieces.isEmpty {
            let piece = state.pieces.removeFirst()
            state.bufferedCount -= piece.count
            return .success(piece)
        }
        return state.end.map { end in end.map { _ in nil } }
    }

    private func cancel(_ number: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.waiters.remove(at: index).continuation
        }
        waiter?.resume(returning: .failure(.cancelled))
    }
}
