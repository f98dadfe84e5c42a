import Foundation
import Switchyard
import SwitchyardTesting

/// The demo servers: three live servers (the servers of the default environment), and one server of the test
/// environment.
final class Forum: Sendable {
    /// The names of the live servers in order of preference.
    static let names = ["primary", "secondary", "tertiary"]

    let live: [ForumServer]
    let test: ForumServer

    /// Starts the servers, each on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - uploadRate: The maximum number of upload bytes that a server accepts per second, or `nil` for no limit.
    ///   - film: The film that every live server serves, or `nil` for none.
    /// - Throws: ``LoopbackError`` if a server cannot listen.
    init(uploadRate: Int? = nil, film: LoopbackContent? = nil) throws(LoopbackError) {
        live = Self.names.map { ForumServer($0, ForumRoutes(.release, uploadRate: uploadRate, film: film)) }
        test = ForumServer("test machine", ForumRoutes(.test))
        for machine in machines { try machine.server.start() }
    }

    var machines: [ForumServer] { live + [test] }

    /// Returns the live server with this name.
    func machine(named name: String) -> ForumServer? { live.first { $0.name == name } }

    /// The number of requests that have reached any server.
    var requestCount: Int { machines.map(\.requestCount).reduce(0, +) }

    func stop() {
        for machine in machines { machine.server.stop() }
    }

    /// The contents of the service file as in `Services/forum.json`, except for the ports.
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

    /// Returns the service, parsed from ``serviceFile`` like any other service.
    func service() throws(CatalogError) -> Service {
        try ServiceCatalog.service(from: Data(serviceFile.utf8), named: "forum")
    }
}
