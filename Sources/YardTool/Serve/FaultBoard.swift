import Switchyard
import SwitchyardTesting

/// The faults of served machines, and when they go.
final class FaultBoard: Sendable {
    /// A fault in force.
    private struct Entry {
        var order: FaultOrder
        var timer: (any ScheduledTimer)?
    }

    private let machines: [ForumServer]
    private let time: any TimeSource
    private let entries = Locked<[String: Entry]>([:])

    init(_ machines: [ForumServer], time: any TimeSource) {
        self.machines = machines
        self.time = time
    }

    /// The orders in force, by the name of the machine.
    var orders: [String: FaultOrder] { entries.withLock { $0.mapValues(\.order) } }

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
            replace(machine.name, with: Entry(order: order, timer: nil))
            machine.server.fault = order.ordered
            guard let seconds = order.for else { continue }
            let timer = time.schedule(at: time.now.advanced(by: .seconds(seconds))) { [weak self] in
                self?.clear(machine.name)
            }
            replace(machine.name, with: Entry(order: order, timer: timer))
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
            replace(machine.name, with: nil)
            machine.server.fault = nil
        }
        return concerned.map(\.name)
    }

    private func replace(_ name: String, with entry: Entry?) {
        let old = entries.withLock { entries in
            defer { entries[name] = entry }
            return entries[name]?.timer
        }
        old?.cancel()
    }

    private func machines(_ name: String?) -> [ForumServer] {
        guard let name else { return machines }
        return machines.filter { $0.name == name || $0.name.hasSuffix("/\(name)") }
    }
}
