import Switchyard
import SwitchyardTesting

/// Starts and ends the faults of the servers that `yard serve` runs.
final class FaultSchedule: Sendable {
    /// An active fault.
    private struct Entry {
        let order: FaultOrder
        /// The sequence number of this fault among the faults of the same server.
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

    /// The active orders, by the name of the server.
    var orders: [String: FaultOrder] { state.withLock { $0.entries.mapValues(\.order) } }

    /// The server names that are valid in an order.
    var names: [String] {
        let short = machines.compactMap { $0.name.split(separator: "/").last.map(String.init) }
        return machines.map(\.name) + Array(Set(short)).sorted()
    }

    /// Applies an order.
    ///
    /// The order replaces an earlier order for the same server.
    ///
    /// - Returns: The names of the affected servers, or an empty array if no server has the name in the order.
    @discardableResult
    func carryOut(_ order: FaultOrder) -> [String] {
        let concerned = machines(order.server)
        for machine in concerned {
            let number = replace(with: order, on: machine)
            guard let seconds = order.for else { continue }
            let timer = time.schedule(at: time.now.advanced(by: .seconds(seconds))) { [weak self] in
                self?.end(number, on: machine)
            }
            // If the fault has already ended, or another order has replaced this order, the timer is not stored.
            state.withLock { if $0.entries[machine.name]?.number == number { $0.entries[machine.name]?.timer = timer } }
        }
        return concerned.map(\.name)
    }

    /// Removes the faults of the servers with this name, or of all servers.
    ///
    /// - Returns: The names of the affected servers.
    @discardableResult
    func clear(_ server: String?) -> [String] {
        let concerned = machines(server)
        for machine in concerned {
            _ = replace(with: nil, on: machine)
        }
        return concerned.map(\.name)
    }

    /// Replaces the order of a server (`nil` removes it) and returns the sequence number of the new order.
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

    /// Removes the order with this sequence number from a server, unless another order has replaced it.
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
