import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// What a server's users and its loop share: routes, faults, records and counts, behind one lock.
final class ServerBoard: Sendable {
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

    /// What the loop has to do with a request that has arrived.
    struct Admission {
        let number: Int
        let action: RouteAction
        let pathValues: [String: String]
        let effect: FaultEffect?
    }

    let limits: LoopbackLimits
    private let state: Watched<State>

    init(limits: LoopbackLimits) {
        self.limits = limits
        state = Watched(State(log: RequestLog(limits: limits)))
    }

    /// Looks at the state.
    func read<Value>(_ body: (State) -> sending Value) -> sending Value {
        state.withLock { body($0) }
    }

    /// Changes the state, and then wakes those who wait for a change.
    @discardableResult
    func change<Value>(_ body: (inout State) -> sending Value) -> sending Value {
        state.change(body)
    }
}

// MARK: - Requests

extension ServerBoard {
    /// Records a head, and decides what becomes of the request.
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

    /// Decides anew about a request that was held.
    func effect(for head: RequestHead, at now: MonotonicTime) -> FaultEffect? {
        change { $0.effect(method: head.method, path: head.path, at: now) }
    }

    /// Whether a fault that holds requests is still there.
    func holds(_ fault: Int, at now: MonotonicTime) -> Bool {
        read { state in
            let states = [state.serverFault].compactMap(\.self) + state.routeFaults.values
            return states.first { $0.number == fault }?.holds(at: now) ?? false
        }
    }

    /// What the listening socket has to do, and when any fault comes or goes by itself.
    func listenerMode(at now: MonotonicTime) -> (mode: ListenerMode, until: MonotonicTime?) {
        read { state in
            let changes = ([state.serverFault].compactMap(\.self) + state.routeFaults.values)
                .compactMap { $0.nextChange(after: now) }
            return (state.serverFault?.listenerMode(at: now) ?? .listening, changes.min())
        }
    }
}

extension ServerBoard.State {
    /// The fault of the best route decides, otherwise that of the server.
    fileprivate mutating func effect(method: HTTPMethod, path: String, at now: MonotonicTime) -> FaultEffect? {
        let best = routeFaults.keys
            .filter { $0.matches(path: path) && $0.matches(method: method) }
            .max { $0.gives(wayTo: $1, for: method) }
        if let best { return routeFaults[best]?.effect(at: now) }
        return serverFault?.effect(at: now)
    }
}

// MARK: - Waiting

extension ServerBoard {
    /// Waits until the counts fulfil a condition; `false` when the task was cancelled before.
    func wait(until condition: @Sendable (LoopbackStatistics) -> Bool) async -> Bool {
        await state.wait(for: \.statistics, until: condition)
    }
}
