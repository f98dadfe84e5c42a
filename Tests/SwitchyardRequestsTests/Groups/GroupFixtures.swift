import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting

@testable import SwitchyardRequests

extension GroupOptions {
    /// Group options with a queue and a clock of the test.
    static func test(
        _ policy: GroupPolicy = .collectAll,
        limit: Int? = nil,
        timeout: Duration? = nil,
        time: any TimeSource = ManualClock()
    ) -> GroupOptions {
        GroupOptions(policy: policy, limit: limit, timeout: timeout, tags: ["test"], queue: .global(), time: time)
    }
}

/// Records entries in order.
final class Diary: Sendable {
    private let list = Locked<[String]>([])

    var entries: [String] { list.withLock { $0 } }

    func write(_ entry: String) {
        list.withLock { $0.append(entry) }
    }
}

/// An accessory that records its calls.
struct DiaryAccessory: RequestAccessory {
    let diary: Diary
    var name = "accessory"

    func willStart(_ subject: AccessorySubject) { diary.write("\(name) willStart") }
    func willStop(_ subject: AccessorySubject) { diary.write("\(name) willStop") }
    func didStop(_ subject: AccessorySubject) { diary.write("\(name) didStop") }
}

/// A group member that is not a request and ends when the test ends it.
final class ManualMember: GroupMember {
    private struct State {
        var starts = 0
        var outcome: MemberOutcome?
        var observers: [@Sendable (MemberOutcome) -> Void] = []
    }

    private let state = Locked(State())

    var starts: Int { state.withLock { $0.starts } }
    var outcome: MemberOutcome? { state.withLock { $0.outcome } }

    func resume() -> Bool {
        state.withLock { state in
            guard state.starts == 0, state.outcome == nil else { return false }
            state.starts += 1
            return true
        }
    }

    func cancel() { end(.cancelled) }

    func end(_ outcome: MemberOutcome) {
        let observers = state.withLock { state -> [@Sendable (MemberOutcome) -> Void] in
            guard state.outcome == nil else { return [] }
            state.outcome = outcome
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer(outcome) }
    }

    func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) {
        let outcome = state.withLock { state -> MemberOutcome? in
            if state.outcome == nil { state.observers.append(observer) }
            return state.outcome
        }
        if let outcome { observer(outcome) }
    }
}

extension APIRequest {
    /// A request that returns a value when the gate opens.
    static func gated(_ value: Value, _ gate: Gate, on queue: DispatchQueue = .global()) -> APIRequest<Value> {
        APIRequest(on: queue) {
            await gate.pass()
            return value
        }
    }

    /// A request that returns a value.
    static func ready(_ value: Value, on queue: DispatchQueue = .global()) -> APIRequest<Value> {
        APIRequest(on: queue) { value }
    }

    /// A request that fails.
    static func failing(_ reason: APIError.Reason = .status(500), on queue: DispatchQueue = .global()) -> APIRequest<
        Value
    > {
        APIRequest(on: queue) { throw APIError(reason) }
    }

    /// Waits for the end of the request without starting it.
    func end() async -> MemberOutcome {
        await withCheckedContinuation { continuation in whenEnded { continuation.resume(returning: $0) } }
    }
}
