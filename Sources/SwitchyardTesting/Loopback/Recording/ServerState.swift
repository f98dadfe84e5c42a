import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The lock-protected state that the server's users and its event loop share: routes, faults, records and statistics.
final class ServerState: Sendable {
    struct State {
        var router = Router()
        var serverFault: FaultState?
        var routeFaults: [LoopbackRoute: FaultState] = [:]
        var log: RequestLog
        var statistics = LoopbackStatistics()
        var lastConnection = 0
        var lastRequest = 0
        var lastFault = 0
    }

    /// The sequence number of a request that has arrived, the action of its route, and the effect of a fault on it.
    struct Admission {
        let number: Int
        let action: RouteAction
        let pathValues: [String: String]
        let effect: FaultEffect?
    }

    let limits: LoopbackLimits
    private let state: ObservableState<State>

    init(limits: LoopbackLimits) {
        self.limits = limits
        state = ObservableState(State(log: RequestLog(limits: limits)))
    }

    /// Reads the state.
    func read<Value>(_ body: (State) -> sending Value) -> sending Value {
        state.withLock { body($0) }
    }

    /// Changes the state, and then resumes the tasks that wait for a condition.
    @discardableResult
    func change<Value>(_ body: (inout State) -> sending Value) -> sending Value {
        state.change(body)
    }
}

// MARK: - Requests

extension ServerState {
    /// Records the head of a request, and returns how the event loop must handle the request.
    func admit(
        _ head: RequestHead,
        connection: Int,
        numberOnConnection: Int,
        at now: MonotonicTime
    ) -> Admission {
        change { state in
            state.lastRequest += 1
            state.statistics.requestsReceived += 1
            state.statistics.requestsInProgress += 1
            let number = state.lastRequest
            state.log.append(
                RecordedRequest(
                    number: number,
                    connection: connection,
                    numberOnConnection: numberOnConnection,
                    time: now,
                    method: head.method,
                    target: head.target,
                    headers: head.headers,
                    headBytes: head.raw
                )
            )
            let (action, route) = state.router.action(method: head.method, path: head.path)
            let effect = state.effect(method: head.method, path: head.path, at: now)
            let pathValues = route?.values(in: head.path) ?? [:]
            return Admission(number: number, action: action, pathValues: pathValues, effect: effect)
        }
    }

    /// Records bytes of a body.
    func recordBody(_ piece: Data, of number: Int) {
        state.withLock { $0.log.append(piece, to: number) }
    }

    /// Records that a request is complete.
    func recordEnd(_ trailers: HTTPHeaders, of number: Int) {
        change { state in
            state.statistics.requestsCompleted += 1
            state.log.update(number) { record in
                record.trailers = trailers
                record.isComplete = true
            }
        }
    }

    /// Records the status of a response.
    func recordStatus(_ status: Int, of number: Int) {
        state.withLock { state in
            state.log.update(number) { $0.status = status }
        }
    }

    /// Returns the effect of the current faults on a request that was held by an earlier fault.
    func effect(for head: RequestHead, at now: MonotonicTime) -> FaultEffect? {
        change { $0.effect(method: head.method, path: head.path, at: now) }
    }

    /// Returns whether requests that are held by a fault must still wait.
    func holds(_ fault: Int, at now: MonotonicTime) -> Bool {
        read { state in
            let states = [state.serverFault].compactMap(\.self) + state.routeFaults.values
            return states.first { $0.number == fault }?.holds(at: now) ?? false
        }
    }

    /// Returns the mode of the listening socket, and the time at which a flapping fault may change the mode.
    func listenerMode(at now: MonotonicTime) -> (mode: ListenerMode, until: MonotonicTime?) {
        read { state in
            let changes = ([state.serverFault].compactMap(\.self) + state.routeFaults.values)
                .compactMap { $0.nextChange(after: now) }
            return (state.serverFault?.listenerMode(at: now) ?? .listening, changes.min())
        }
    }
}

extension ServerState.State {
    /// Returns the effect of a fault on a request.
    ///
    /// If several routes with a fault match, the best matching route decides. If no route matches, the fault of the
    /// server applies.
    fileprivate mutating func effect(method: HTTPMethod, path: String, at now: MonotonicTime) -> FaultEffect? {
        let best = routeFaults.keys
            .filter { $0.matches(path: path) && $0.matches(method: method) }
            .max { $0.gives(wayTo: $1, for: method) }
        if let best { return routeFaults[best]?.effect(at: now) }
        return serverFault?.effect(at: now)
    }
}

// MARK: - Waiting

extension ServerState {
    /// Waits until the statistics satisfy a condition, or returns `false` if the task was cancelled first.
    func wait(until condition: @Sendable (LoopbackStatistics) -> Bool) async -> Bool {
        await state.wait(for: \.statistics, until: condition)
    }
}
