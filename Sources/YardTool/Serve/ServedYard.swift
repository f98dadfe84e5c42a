import Foundation
import Switchyard
import SwitchyardStreams
import SwitchyardTesting

/// The servers of `yard serve`: those in `Services/topics.json` and `Services/users.json`, and the admin server.
final class ServedYard: Sendable {
    /// The machines in the order of their ports.
    let machines: [ForumServer]
    let admin: LoopbackServer
    let faults: FaultSchedule

    /// Starts the servers.
    ///
    /// - Parameters:
    ///   - firstPort: The port of the first server; the other servers use the following ports. If 0, the system chooses
    ///     each port.
    ///   - time: The clock of the faults' timers.
    /// - Throws: ``LoopbackError`` if a port is in use.
    init(firstPort: UInt16, time: any TimeSource = SystemTime.shared) throws(LoopbackError) {
        let names = ["topics/primary", "topics/secondary", "topics/tertiary", "users/primary", "users/secondary"]
        let ports = (0...UInt16(names.count)).map { firstPort == 0 ? 0 : firstPort + $0 }
        machines = zip(names, ports).map { ForumServer($0, data: .release, port: $1) }
        admin = LoopbackServer(port: ports[names.count])
        faults = FaultSchedule(machines, time: time)
        AdminRoutes(faults: faults).install(on: admin)
        for server in machines.map(\.server) + [admin] { try server.start() }
    }

    func stop() {
        faults.clear(nil)
        for server in machines.map(\.server) + [admin] { server.stop() }
    }

    /// The usage text for the terminal.
    var instructions: String {
        var table = TextTable(["server": .left, "base URL": .left])
        for machine in machines { table.add([machine.name, machine.baseURL]) }
        return (table.lines + ["", AdminRoutes.help(baseURL: admin.baseURL)]).joined(separator: "\n")
    }
}
