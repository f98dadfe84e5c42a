import Switchyard

/// Steady traffic of several callers: tasks that each make one call after another, as the screens of an app do.
///
/// The results of their calls are counted.
final class SteadyTraffic: Sendable {
    /// The number of calls, the number of failed calls, and the duration of the slowest call.
    struct Tally: Sendable {
        var calls = 0
        var failures = 0
        var slowest = Duration.zero
        var lastError: APIError?

        /// Adds the result of a call.
        mutating func add(_ error: APIError?, after duration: Duration) {
            calls += 1
            slowest = max(slowest, duration)
            guard let error, !error.isCancellation else { return }
            failures += 1
            lastError = error
        }
    }

    private struct State {
        var total = Tally()
        var phase = Tally()
        var isStopped = false
    }

    private let state = Locked(State())
    private let notes: TrafficRecorder

    /// Creates traffic that has not started.
    ///
    /// - Parameter notes: The recorder of calls for a report.
    init(notes: TrafficRecorder = TrafficRecorder()) {
        self.notes = notes
    }

    /// The results of all calls.
    var total: Tally { state.withLock { $0.total } }

    /// The results of the calls that have ended since the last ``beginPhase()``.
    var phase: Tally { state.withLock { $0.phase } }

    /// Resets the counts of ``phase``.
    func beginPhase() {
        state.withLock { $0.phase = Tally() }
    }

    /// Runs the callers until ``stop()`` is called, and returns after the last call has ended.
    ///
    /// - Parameters:
    ///   - callers: The number of concurrent callers.
    ///   - think: The pause of each caller between two calls.
    ///   - call: A closure that makes the call with this number, and returns the context of the response.
    func run(
        callers: Int,
        think: Duration,
        call: @escaping @Sendable (Int) async throws(APIError) -> RequestContext?
    ) async {
        state.withLock { $0.isStopped = false }
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask { [self] in
                    var number = caller
                    while !state.withLock({ $0.isStopped }), !Task.isCancelled {
                        await ask(number, call)
                        number += callers
                        // The sleep ends early only if the demo is interrupted. In this case, the loop ends too.
                        try? await Task.sleep(for: think)
                    }
                }
            }
        }
    }

    /// Stops every caller after its current call.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    private func ask(_ number: Int, _ call: (Int) async throws(APIError) -> RequestContext?) async {
        let start = SystemTime.shared.now
        let result: Result<RequestContext?, APIError>
        do throws(APIError) {
            result = .success(try await call(number))
        } catch {
            result = .failure(error)
        }
        let duration = start.duration(to: SystemTime.shared.now)
        let error = result.error
        state.withLock { state in
            state.total.add(error, after: duration)
            state.phase.add(error, after: duration)
        }
        if error?.isCancellation != true { notes.add(RecordedCall(start: start, wait: duration, result)) }
    }
}

extension Result {
    /// The error, or `nil` if the call succeeded.
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension RecordedCall {
    fileprivate init(start: MonotonicTime, wait: Duration, _ result: Result<RequestContext?, APIError>) {
        switch result {
        case .success(let context):
            self.init(start: start, wait: wait, server: context?.server, way: context.map(CallWay.init) ?? .direct)
            attempts = context?.attempts ?? 0
            sent = RecordedAttempt.all(context?.history.attempts ?? [])
        case .failure(let error):
            let way = error.context.attempts > 1 ? CallWay.failedOver : .direct
            self.init(start: start, wait: wait, server: error.context.server, way: way, failure: error.kind)
            attempts = error.context.attempts
            sent = RecordedAttempt.all(error.attempts)
            obstacle = error.attempts.obstacle
        }
    }
}

extension APIError {
    /// The kind of failure, as in the output of `yard load`.
    fileprivate var kind: String {
        if let status { return "http\(status)" }
        if case .transport(let error) = reason { return error.kind.word }
        return "\(code.number)"
    }
}
