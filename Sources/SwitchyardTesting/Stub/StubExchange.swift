import Dispatch
import Foundation
import SwitchyardClient
import SwitchyardServices

/// One exchange of a ``StubTransport``: whatever comes first, an answer, a cancel, a timeout or a shutdown, ends it.
final class StubExchange: TransportTask {
    typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

    private struct State {
        /// `nil` once it has been called, or is about to be.
        var completion: Completion?
        var timers: [any ScheduledTimer] = []
        var timeout: (any ScheduledTimer)?
        /// The body that is being read, behind a completion with a streamed response.
        var body: StubBody?
        /// Called once when the exchange ends.
        var onEnd: (@Sendable (StubExchange) -> Void)?
        var hasEnded = false
    }

    private let request: HTTPRequest
    private let queue: DispatchQueue?
    private let progress: TransferProgressHandler?
    private let state: Locked<State>

    init(
        request: HTTPRequest,
        queue: DispatchQueue?,
        progress: TransferProgressHandler?,
        onEnd: @escaping @Sendable (StubExchange) -> Void,
        completion: @escaping Completion
    ) {
        self.request = request
        self.queue = queue
        self.progress = progress
        state = Locked(State(completion: completion, onEnd: onEnd))
    }

    func cancel() {
        end(TransportError(.cancelled, message: "cancelled by the caller"))
    }

    /// Lets the request's total timeout run.
    func setTimeout(on time: any TimeSource) {
        guard let total = request.timeouts.total else { return }
        let timer = time.schedule(at: time.now.advanced(by: total)) { [weak self] in
            self?.end(TransportError(.timeout, message: "no complete response within \(total)"))
        }
        let isLate = state.withLock { state in
            state.timeout = timer
            return state.hasEnded
        }
        if isLate { timer.cancel() }
    }

    /// Does what the script says.
    func play(_ answer: StubAnswer) {
        switch answer.kind {
        case .never: break
        case .failure(let error): end(error)
        case .delayed(let pause, let answer): wait(pause) { $0.play(answer) }
        case .response(let response): deliver(response)
        case .chunks(let chunks):
            if request.delivery == .stream { stream(chunks) } else { gather(chunks, index: 0) }
        }
    }

    /// Ends the exchange with a failure, unless it has ended: in the completion, or in the body that is being read.
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

    /// Gives back the timers and the place in the transport's table, once.
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

    private func wait(_ pause: StubAnswer.Pause, then next: @escaping @Sendable (StubExchange) -> Void) {
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
            return stream(StubAnswer.Chunks(status: response.status, headers: response.headers, pieces: pieces))
        }
        guard isWithinLimit(bytes.count) else { return end(bodyTooLarge) }
        report(bytes.count, of: bytes.count)
        complete(response, body: nil)
    }

    /// Lets the pieces of a whole body come one after the other.
    private func gather(_ chunks: StubAnswer.Chunks, index: Int) {
        guard index < chunks.pieces.count else {
            if let failure = chunks.failure { return end(failure) }
            let body = chunks.pieces.reduce(Data(), +)
            return complete(HTTPResponse(status: chunks.status, headers: chunks.headers, body: .whole(body)), body: nil)
        }
        guard let pause = chunks.pause else { return take(chunks, index: index) }
        guard let idle = pause.shortened(to: request.timeouts.idle) else {
            return wait(pause) { $0.take(chunks, index: index) }
        }
        wait(idle) { $0.end(idle.timeout) }
    }

    private func take(_ chunks: StubAnswer.Chunks, index: Int) {
        guard state.withLock({ $0.completion != nil }) else { return }
        let count = chunks.pieces[...index].reduce(0) { $0 + $1.count }
        guard isWithinLimit(count) else { return end(bodyTooLarge) }
        report(count, of: nil)
        gather(chunks, index: index + 1)
    }

    private func stream(_ chunks: StubAnswer.Chunks) {
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
