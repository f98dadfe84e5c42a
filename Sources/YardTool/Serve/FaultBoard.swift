import Switchyard
import SwitchyardTesting

/// The faults of served machines, and when they go.
final class FaultBoard: Sendable {
    /// A fault in force.
    private struct Entry {
        let order: FaultOrder
        /// Tells it from those before and after it on the same machine.
        let number: Int
        var timer: (any ScheduledTimer)?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var orders = 0
    }

    private let machines: [ForumServer]
    private let time: any TimeSource
    private let state = Locked(State())

    init(_ machines: [ForumServer], time: any TimeSource) {
        self.machines = machines
        self.time = time
    }

    /// The orders in force, by the name of the machine.
    var orders: [String: FaultOrder] { state.withLock { $0.entries.mapValues(\.order) } }

    /// The names that an order can use.
    var names: [String] {
        let short = machines.compactMap { $0.name.split(separator: "/").last.map(String.init) }
        return machines.map(\.name) + Array(Set(short)).sorted()
    }

    /// Carries an order out; it takes the place of an earlier one.
    ///
    /// - Returns: The names of the machines that it concerned; empty when there is no such machine.
    @discardableResult
    func carryOut(_ order: FaultOrder) -> [String] {
        let concerned = machines(order.server)
        for machine in concerned {
            let number = replace(with: order, on: machine)
            guard let seconds = order.for else { continue }
            let timer = time.schedule(at: time.now.advanced(by: .seconds(seconds))) { [weak self] in
                self?.end(number, on: machine)
            }
            // Not when its time is over already, or another order has come.
            state.withLock { if $0.entries[machine.name]?.number == number { $0.entries[machine.name]?.timer = timer } }
        }
        return concerned.map(\.name)
    }

    /// Takes the faults of machines away.
    ///
    /// - Returns: The names of the machines that it concerned.
    @discardableResult
    func clear(_ server: String?) -> [String] {
        let concerned = machines(server)
        for machine in concerned {
            _ = replace(with: nil, on: machine)
        }
        return concerned.map(\.name)
    }

    /// Puts an order in the place of the one before, and returns its number.
    private func replace(with order: FaultOrder?, on machine: ForumServer) -> Int {
        let (old, number) = state.withLock { state in
            state.orders += 1
            let old = state.entries[machine.name]
            state.entries[machine.name] = order.map { Entry(order: $0, number: state.orders, timer: nil) }
            return (old, state.orders)
        }
        old?.timer?.cancel()
        machine.server.fault = order?.ordered
        return number
    }

    /// Ends an order whose time is over, unless another has taken its place.
    private func end(_ number: Int, on machine: ForumServer) {
        let isInForce = state.withLock { state in
            guard state.entries[machine.name]?.number == number else { return false }
            state.entries[machine.name] = nil
            return true
        }
        if isInForce { machine.server.fault = nil }
    }

    private func machines(_ name: String?) -> [ForumServer] {
        guard let name else { return machines }
        return machines.filter { $0.name == name || $0.name.hasSuffix("/\(name)") }
    }
}
