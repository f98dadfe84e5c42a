import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The body of a streamed stub response.
///
/// The exchange can end the body with an error while it is being read.
final class StubBody: Sendable {
    private typealias Reader = CheckedContinuation<Result<Data?, TransportError>, Never>

    private struct State {
        var index = 0
        var count = 0
        var end: Result<Data?, TransportError>?
        var reader: Reader?
        var timer: (any ScheduledTimer)?
    }

    private let chunks: StubResponse.Chunks
    private let limit: Int?
    private let idleLimit: Duration?
    private let report: @Sendable (Int) -> Void
    private let onEnd: @Sendable () -> Void
    private let state = Locked(State())

    init(
        chunks: StubResponse.Chunks,
        limit: Int?,
        idleLimit: Duration?,
        report: @escaping @Sendable (Int) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.chunks = chunks
        self.limit = limit
        self.idleLimit = idleLimit
        self.report = report
        self.onEnd = onEnd
    }

    /// Waits for the pause before the next chunk, and returns the chunk, or `nil` at the end.
    func next() async throws(TransportError) -> Data? {
        guard let pause = chunks.pause, state.withLock({ $0.end == nil && $0.index < chunks.pieces.count }) else {
            return try takePiece().get()
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(pause, $0) }
        } onCancel: {
            fail(TransportError(.cancelled, message: "the reader stopped reading"))
        }
        return try outcome.get()
    }

    /// Ends the body with an error, unless it has already ended.
    func fail(_ error: TransportError) {
        let (reader, timer, isFirst) = state.withLock { state in
            let isFirst = state.end == nil
            if isFirst { state.end = .failure(error) }
            defer {
                state.reader = nil
                state.timer = nil
            }
            return (state.reader, state.timer, isFirst)
        }
        timer?.cancel()
        reader?.resume(returning: .failure(error))
        if isFirst { onEnd() }
    }

    private func wait(_ pause: StubResponse.Pause, _ reader: Reader) {
        let end = state.withLock { state in
            if state.end == nil { state.reader = reader }
            return state.end
        }
        if let end { return reader.resume(returning: end) }
        let idle = pause.shortened(to: idleLimit)
        let timer = (idle ?? pause).start { [self] in
            if let idle { return fail(idle.timeout) }
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: takePiece())
        }
        let isLate = state.withLock { state in
            state.timer = timer
            return state.end != nil
        }
        if isLate { timer.cancel() }
    }

    private func takePiece() -> Result<Data?, TransportError> {
        let (result, count, hasEnded) = state.withLock { state in
            let wasOpen = state.end == nil
            let result = nextResult(&state)
            return (result, state.count, wasOpen && state.end != nil)
        }
        if case .success(.some) = result { report(count) }
        if hasEnded { onEnd() }
        return result
    }

    private func nextResult(_ state: inout State) -> Result<Data?, TransportError> {
        if let end = state.end { return end }
        guard state.index < chunks.pieces.count else {
            let end: Result<Data?, TransportError> = chunks.failure.map { .failure($0) } ?? .success(nil)
            state.end = end
            return end
        }
        let piece = chunks.pieces[state.index]
        state.index += 1
        state.count += piece.count
        if let limit, state.count > limit {
            let end = TransportError(.bodyTooLarge, message: "the body is larger than \(limit) bytes")
            state.end = .failure(end)
            return .failure(end)
        }
        return .success(piece)
    }
}
