import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Hands the body of one request from the loop to the handler, with a bounded buffer in between.
final class RequestBodyChannel: Sendable {
    private typealias Outcome = Result<Data?, LoopbackError>

    private struct State {
        var pieces: [Data] = []
        var bufferedCount = 0
        var end: Result<HTTPHeaders, LoopbackError>?
        var waiters: [(number: Int, continuation: CheckedContinuation<Outcome, Never>)] = []
        var lastWaiter = 0
        /// Waiters that were cancelled before they came to wait.
        var cancelled: Set<Int> = []
        var hasBeenAskedFor = false
        var isDiscarding = false
        var isPaused = false
    }

    private let capacity: Int
    private let state = Locked(State())
    /// Tells the loop that the handler wants bytes.
    private let demand: @Sendable () -> Void

    init(capacity: Int, demand: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.demand = demand
    }

    /// Whether the loop should leave further bytes with the client.
    var isFull: Bool {
        state.withLock { state in
            // Whoever waits gets the next piece, however little is kept.
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

// MARK: - The loop's side

extension RequestBodyChannel {
    /// Puts a piece in, or hands it to the handler that waits for it.
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

    /// Ends the body, well or not; only the first end counts.
    func finish(_ end: Result<HTTPHeaders, LoopbackError>) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome, Never>] in
            guard state.end == nil else { return [] }
            state.end = end
            defer { state.waiters = [] }
            return state.waiters.map(\.continuation)
        }
        for waiter in waiters { waiter.resume(returning: end.map { _ in nil }) }
    }

    /// Throws away what nobody will read.
    func discard() {
        state.withLock { state in
            state.isDiscarding = true
            state.pieces = []
            state.bufferedCount = 0
        }
    }
}

// MARK: - The handler's side

extension RequestBodyChannel {
    /// Returns the next piece, or `nil` at the end.
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
            // While the loop reads anyway, it need not be woken.
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
