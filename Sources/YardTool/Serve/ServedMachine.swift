import Foundation
import Switchyard

/// A server that `yard serve` runs, before it is started.
struct ServedMachine: Sendable {
    /// The name of the service and of the server, such as `topics/primary`.
    var name: String
    var site: ForumServer.Site
    /// The requests that the server serves.
    var serves = ServedRequests.everything

    /// The servers for `Services/topics.json` and `Services/users.json`.
    static let standard: [ServedMachine] = {
        let names = ["topics/primary", "topics/secondary", "topics/tertiary", "users/primary", "users/secondary"]
        return zip(names, UInt16(8_081)...).map { ServedMachine(name: $0, site: ForumServer.Site(port: $1)) }
    }()

    /// Returns the servers to run for a service file: one for each server of the file.
    ///
    /// - Parameters:
    ///   - file: The service file.
    ///   - wanted: The environment. If `nil`, the default environment of the service is used.
    /// - Returns: The servers in the order of the file.
    /// - Throws: A ``CatalogError`` if the file is invalid, or if a server of the environment is not on this machine.
    static func all(in file: URL, _ wanted: ServiceEnvironment?) throws(CatalogError) -> [ServedMachine] {
        let service = try ServiceCheck.service(in: file).service
        let name = file.lastPathComponent
        let environment = try ServiceCheck.environment(wanted, of: service, in: name)
        var machines: [ServedMachine] = []
        for (index, server) in service.servers.enumerated() {
            guard let url = server.baseURLs[environment] else { continue }
            do throws(CatalogError) {
                let (name, place) = ("\(service.name)/\(server.name)", "servers[\(index)]")
                let site = try site(of: server, url, at: place, environment)
                machines.append(ServedMachine(name: name, site: site, serves: server.serves))
            } catch {
                var error = error
                error.file = name
                throw error
            }
        }
        return machines
    }

    private static func site(
        of server: Server,
        _ url: ServerURL,
        at place: String,
        _ environment: ServiceEnvironment
    ) throws(CatalogError) -> ForumServer.Site {
        guard url.scheme == "http", ["127.0.0.1", "localhost"].contains(url.host),
            let port = UInt16(exactly: url.port ?? 80), let parts = RequestURL(url.text)?.absolute
        else {
            let expected = "an http URL on 127.0.0.1 or localhost (use --environment to choose another environment)"
            throw CatalogError(
                .invalidURL,
                at: "\(place).baseURLs.\(environment)",
                expected: expected,
                found: url.text
            )
        }
        var folder = String(decoding: parts.path, as: UTF8.self)
        while folder.hasSuffix("/") { folder.removeLast() }
        return ForumServer.Site(port: port, folder: folder, role: try ServerRole(server, at: place), echoes: true)
    }
}
