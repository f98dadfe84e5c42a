import Foundation
import Switchyard
import SwitchyardTesting

/// An error that reports that a server of `yard serve` cannot listen on its port.
struct PortError: Error, CustomStringConvertible {
    /// The server, as the subject of a sentence.
    let server: String
    let cause: LoopbackError

    var description: String { "\(server) cannot start: \(cause)" }
}

/// The servers of `yard serve`, and the admin server.
final class ServedYard: Sendable {
    /// The servers that `yard serve` runs, in the order of the service files.
    let machines: [ForumServer]
    let admin: LoopbackServer
    let faults: FaultSchedule
    /// The requests that each server serves.
    private let served: [ServedRequests]

    /// Starts the servers.
    ///
    /// - Parameters:
    ///   - plan: The servers to run.
    ///   - firstPort: The port of the first server; the other servers and then the admin server use the following
    ///     ports. If 0, the system chooses each port. If `nil`, each server has its own port, and the admin server has
    ///     the port after the highest one.
    ///   - time: The clock of the faults' timers.
    /// - Throws: ``PortError`` if a port is in use.
    init(
        _ plan: [ServedMachine] = ServedMachine.standard,
        firstPort: UInt16? = nil,
        time: any TimeSource = SystemTime.shared
    ) throws(PortError) {
        machines = plan.enumerated().map { number, machine in
            var site = machine.site
            if let firstPort { site.port = firstPort == 0 ? 0 : firstPort + UInt16(number) }
            return ForumServer(machine.name, ForumRoutes(.release), at: site)
        }
        served = plan.map(\.serves)
        let next = firstPort.map { $0 == 0 ? 0 : $0 + UInt16(plan.count) }
        admin = LoopbackServer(port: next ?? (plan.map(\.site.port).max() ?? 0) &+ 1)
        faults = FaultSchedule(machines, time: time)
        AdminRoutes(faults: faults).install(on: admin)
        let named = machines.map { ("server \($0.name)", $0.server) } + [("the admin server", admin)]
        for (name, server) in named {
            do throws(LoopbackError) { try server.start() } catch { throw PortError(server: name, cause: error) }
        }
    }

    func stop() {
        faults.clear(nil)
        for server in machines.map(\.server) + [admin] { server.stop() }
    }

    /// The usage text for the terminal.
    var instructions: String {
        var table = TextTable(["server": .left, "base URL": .left, "serves": .left])
        for (machine, served) in zip(machines, served) {
            table.add([machine.name, machine.baseURL, served.texts.joined(separator: ", ")])
        }
        return (table.lines + ["", AdminRoutes(faults: faults).help(baseURL: admin.baseURL)]).joined(separator: "\n")
    }
}
