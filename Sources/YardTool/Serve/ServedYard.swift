import Foundation
import Switchyard
import SwitchyardStreams
import SwitchyardTesting

/// The servers of `yard serve`: those of `Services/topics.json` and `Services/users.json`, and the one that sets faults.
final class ServedYard: Sendable {
    /// The machines, in the order of their ports.
    let machines: [ForumServer]
    let admin: LoopbackServer
    let faults: FaultBoard

    /// Starts the servers.
    ///
    /// - Parameters:
    ///   - firstPort: The port of the first one, the others follow; 0 lets the system choose each.
    ///   - time: The clock and the timers.
    /// - Throws: ``LoopbackError`` when a port is in use.
    init(firstPort: UInt16, time: any TimeSource = SystemTime.shared) throws(LoopbackError) {
        let names = ["topics/primary", "topics/secondary", "topics/tertiary", "users/primary", "users/secondary"]
        let ports = (0...UInt16(names.count)).map { firstPort == 0 ? 0 : firstPort + $0 }
        machines = zip(names, ports).map { ForumServer($0, data: .release, port: $1) }
        admin = LoopbackServer(port: ports[names.count])
        faults = FaultBoard(machines, time: time)
        AdminRoutes(faults: faults).install(on: admin)
        for server in machines.map(\.server) + [admin] { try server.start() }
    }

    /// Stops every server.
    func stop() {
        faults.clear(nil)
        for server in machines.map(\.server) + [admin] { server.stop() }
    }

    /// How to use it, for somebody at the terminal.
    var instructions: String {
        var table = TextTable(["server": .left, "base URL": .left])
        for machine in machines { table.add([machine.name, machine.baseURL]) }
        return (table.lines + ["", AdminRoutes.help(baseURL: admin.baseURL)]).joined(separator: "\n")
    }
}
