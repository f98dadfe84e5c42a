import Foundation
import Switchyard
import SwitchyardTesting

/// The machines behind the demo: three live ones, and the one that the testers have.
final class Forum: Sendable {
    /// The names of the live machines, the preferred one first.
    static let names = ["primary", "secondary", "tertiary"]

    let live: [ForumServer]
    let test: ForumServer

    /// Starts the machines, each on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - uploadRate: How many bytes of an upload a machine takes in a second; as many as come when `nil`.
    ///   - film: The film that every live machine gives away; none when `nil`.
    /// - Throws: When a machine cannot listen.
    init(uploadRate: Int? = nil, film: LoopbackContent? = nil) throws(LoopbackError) {
        live = Self.names.map { name in
            ForumServer(name, data: .release, uploadRate: uploadRate, film: film)
        }
        test = ForumServer("test machine", data: .test)
        for machine in machines { try machine.server.start() }
    }

    /// All machines.
    var machines: [ForumServer] { live + [test] }

    /// The live machine of that name.
    func machine(named name: String) -> ForumServer? { live.first { $0.name == name } }

    /// How many requests have reached any machine.
    var requestCount: Int { machines.map(\.requestCount).reduce(0, +) }

    /// Stops every machine.
    func stop() {
        for machine in machines { machine.server.stop() }
    }

    /// The service as it would stand in `Services/forum.json`, but for the ports.
    var serviceFile: String {
        let servers = live.map { machine in
            """
                {
                  "name": "\(machine.name)",
                  "baseURLs": { "release": "\(machine.baseURL)", "test": "\(test.baseURL)" }
                }
            """
        }
        return """
            {
              "service": "forum",
              "defaultEnvironment": "release",
              "servers": [
            \(servers.joined(separator: ",\n"))
              ],
              "switching": { "policy": "single" }
            }
            """
    }

    /// The service, read from ``serviceFile`` like any other.
    func service() throws(CatalogError) -> Service {
        try ServiceCatalog.service(from: Data(serviceFile.utf8), named: "forum")
    }
}
