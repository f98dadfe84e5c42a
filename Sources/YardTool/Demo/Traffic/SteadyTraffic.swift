import Switchyard

/// Callers that ask one thing after another, as the screens of an app do, and count what they get.
final class SteadyTraffic: Sendable {
    /// What the callers got.
    struct Tally: Sendable {
        var calls = 0
        var failures = 0
        var slowest = Duration.zero
        var lastError: APIError?

        /// Takes a call in.
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
    private let notes: TrafficNotes

    /// Creates traffic that has not begun.
    ///
    /// - Parameter notes: Where each call is noted for a report.
    init(notes: TrafficNotes = TrafficNotes()) {
        self.notes = notes
    }

    /// What all callers got since the beginning.
    var total: Tally { state.withLock { $0.total } }

    /// What all callers got since the last ``beginPhase()``; a call belongs to the phase in which it ended.
    var phase: Tally { state.withLock { $0.phase } }

    /// Begins to count anew for ``phase``.
    func beginPhase() {
        state.withLock { $0.phase = Tally() }
    }

    /// Lets callers ask until ``stop()``; returns when the last call has ended.
    ///
    /// - Parameters:
    ///   - callers: How many ask side by side.
    ///   - think: How long each of them pauses between two calls.
    ///   - call: Asks once, and returns who answered; it is given a running number.
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
                        // Only an interrupted demo ends a pause early, and then the loop ends too.
                        try? await Task.sleep(for: think)
                    }
                }
            }
        }
    }

    /// Lets every caller end with its present call.
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
        if error?.isCancellation != true { notes.add(NotedCall(start: start, wait: duration, result)) }
    }
}

extension Result {
    /// The error, if it is one.
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension NotedCall {
    fileprivate init(start: MonotonicTime, wait: Duration, _ result: Result<RequestContext?, APIError>) {
        switch result {
        case .success(let context):
            self.init(start: start, wait: wait, server: context?.server, way: context.map(CallWay.init) ?? .direct)
        case .failure(let error):
            let way = error.context.attempts > 1 ? CallWay.failedOver : .direct
            let kind = error.status.map { "http\($0)" } ?? "\(error.code.number)"
            self.init(start: start, wait: wait, server: error.context.server, way: way, failure: kind)
        }
    }
}
