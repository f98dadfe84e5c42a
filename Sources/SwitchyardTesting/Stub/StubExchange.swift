import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

/// One exchange of a ``StubTransport``.
///
/// An exchange ends with a response, a cancellation, a timeout, or the shutdown of the transport.
final class StubExchange: TransportTask {
    typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

    private struct State {
        /// The completion handler, or `nil` once it has been called or is about to be called.
        var completion: Completion?
        var timers: [any ScheduledTimer] = []
        var timeout: (any ScheduledTimer)?
        /// The streamed body that is being read, or `nil` before the head is delivered, and if the body is not
        /// streamed.
        var body: StubBody?
        /// A callback that is called once when the exchange ends.
        var onEnd: (@Sendable (StubExchange) -> Void)?
        var hasEnded = false
    }

    private let request: HTTPRequest
    private let time: (any TimeSource)?
    private let queue: DispatchQueue?
    private let progress: TransferProgressHandler?
    private let state: Locked<State>

    init(
        request: HTTPRequest,
        time: (any TimeSource)?,
        queue: DispatchQueue?,
        progress: TransferProgressHandler?,
        onEnd: @escaping @Sendable (StubExchange) -> Void,
        completion: @escaping Completion
    ) {
        self.request = request
        self.time = time
        self.queue = queue
        self.progress = progress
        state = Locked(State(completion: completion, onEnd: onEnd))
    }

    func cancel() {
        end(TransportError(.cancelled, message: "cancelled by the caller"))
    }

    /// Starts the request's total timeout if there is a clock.
    func setTimeout() {
        guard let time, let total = request.timeouts.total else { return }
        let timer = time.schedule(at: time.now.advanced(by: total)) { [weak self] in
            self?.end(TransportError(.timeout, message: "no complete response within \(total)"))
        }
        let isLate = state.withLock { state in
            state.timeout = timer
            return state.hasEnded
        }
        if isLate { timer.cancel() }
    }

    /// Carries out the scripted behavior for the request.
    func play(_ answer: StubResponse) {
        switch answer.kind {
        case .never: waitIdly()
        case .failure(let error): end(error)
        case .delayed(let pause, let answer):
            if let idle = pause.shortened(to: request.timeouts.idle) { return wait(idle) { $0.end(idle.timeout) } }
            wait(pause) { $0.play(answer) }
        case .response(let response): deliver(response)
        case .chunks(let chunks):
            if request.delivery == .stream { stream(chunks) } else { gather(chunks) }
        }
    }

    /// Ends the exchange with an error, unless it has already ended.
    ///
    /// The error is passed to the completion handler, or to the body if a streamed response is being read.
    func end(_ error: TransportError) {
        let (completion, body) = state.withLock { state in
            defer { state.completion = nil }
            return (state.completion, state.body)
        }
        if let completion {
            call { completion(.failure(error)) }
            close()
        } else {
            body?.fail(error)
        }
    }

    /// Cancels the timers and removes the exchange from the transport, once.
    private func close() {
        let (timers, onEnd) = state.withLock { state in
            defer {
                state.hasEnded = true
                state.timers = []
                state.timeout = nil
                state.onEnd = nil
            }
            return (state.timers + [state.timeout].compactMap(\.self), state.onEnd)
        }
        for timer in timers { timer.cancel() }
        onEnd?(self)
    }

    private func call(_ body: @escaping @Sendable () -> Void) {
        if let queue { queue.async(execute: body) } else { body() }
    }

    /// Waits until the idle timeout ends the exchange.
    ///
    /// Without a clock, the exchange does not end by itself.
    private func waitIdly() {
        guard let time, let limit = request.timeouts.idle else { return }
        let idle = StubResponse.Pause(duration: limit, time: time)
        wait(idle) { $0.end(idle.timeout) }
    }

    private func wait(_ pause: StubResponse.Pause, then next: @escaping @Sendable (StubExchange) -> Void) {
        let timer = pause.start { [self] in
            guard state.withLock({ $0.completion != nil }) else { return }
            next(self)
        }
        let isLate = state.withLock { state in
            state.timers.append(timer)
            return state.hasEnded
        }
        if isLate { timer.cancel() }
    }
}

// MARK: - Responses

extension StubExchange {
    private func deliver(_ response: HTTPResponse) {
        guard case .whole(let bytes) = response.body else { return complete(response, body: nil) }
        if request.delivery == .stream {
            let pieces = bytes.isEmpty ? [] : [bytes]
            return stream(StubResponse.Chunks(status: response.status, headers: response.headers, pieces: pieces))
        }
        guard isWithinLimit(bytes.count) else { return end(bodyTooLarge) }
        report(bytes.count, of: bytes.count)
        complete(response, body: nil)
    }

    /// Collects the chunks of a scripted response into a whole body.
    private func gather(_ chunks: StubResponse.Chunks) {
        if let pause = chunks.pause { return gather(chunks, from: 0, after: 0, every: pause) }
        var count = 0
        for piece in chunks.pieces {
            guard let sum = take(piece, after: count) else { return }
            count = sum
        }
        finish(chunks)
    }

    /// Collects the chunks from `index` on, and waits for the pause before each chunk.
    ///
    /// `count` is the number of bytes collected so far.
    private func gather(
        _ chunks: StubResponse.Chunks,
        from index: Int,
        after count: Int,
        every pause: StubResponse.Pause
    ) {
        guard index < chunks.pieces.count else { return finish(chunks) }
        if let idle = pause.shortened(to: request.timeouts.idle) { return wait(idle) { $0.end(idle.timeout) } }
        wait(pause) { exchange in
            guard let sum = exchange.take(chunks.pieces[index], after: count) else { return }
            exchange.gather(chunks, from: index + 1, after: sum, every: pause)
        }
    }

    /// Adds a chunk after `count` collected bytes.
    ///
    /// Returns the new number of bytes, or `nil` if the exchange has ended.
    private func take(_ piece: Data, after count: Int) -> Int? {
        guard state.withLock({ $0.completion != nil }) else { return nil }
        let count = count + piece.count
        guard isWithinLimit(count) else {
            end(bodyTooLarge)
            return nil
        }
        report(count, of: nil)
        return count
    }

    private func finish(_ chunks: StubResponse.Chunks) {
        if let failure = chunks.failure { return end(failure) }
        let body = chunks.pieces.reduce(into: Data()) { $0 += $1 }
        complete(HTTPResponse(status: chunks.status, headers: chunks.headers, body: .whole(body)), body: nil)
    }

    private func stream(_ chunks: StubResponse.Chunks) {
        let body = StubBody(
            chunks: chunks,
            limit: request.responseBodyLimit,
            idleLimit: request.timeouts.idle,
            report: { [self] count in report(count, of: nil) },
            onEnd: { [weak self] in self?.close() }
        )
        let stream = HTTPBodyStream(cancel: { [weak self] in self?.cancel() }) { () async throws(TransportError) in
            try await body.next()
        }
        complete(HTTPResponse(status: chunks.status, headers: chunks.headers, body: .stream(stream)), body: body)
    }

    private func complete(_ response: HTTPResponse, body: StubBody?) {
        let completion = state.withLock { state in
            defer { state.completion = nil }
            if state.completion != nil { state.body = body }
            return state.completion
        }
        guard let completion else { return }
        call { completion(.success(response)) }
        if body == nil { close() }
    }

    private func report(_ count: Int, of total: Int?) {
        guard let progress else { return }
        let report = TransferProgress(direction: .download, completed: Int64(count), total: total.map(Int64.init))
        call { progress(report) }
    }

    private func isWithinLimit(_ count: Int) -> Bool {
        request.responseBodyLimit.map { count <= $0 } ?? true
    }

    private var bodyTooLarge: TransportError {
        TransportError(.bodyTooLarge, message: "the body is larger than \(request.responseBodyLimit ?? 0) bytes")
    }
}
