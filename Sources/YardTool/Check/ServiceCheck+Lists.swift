import Foundation
import Switchyard
import SwitchyardServerLists

extension ServiceCheck {
    /// Returns the service in a file, which is a service file or a signed server list.
    ///
    /// A list names no default environment. Its servers are checked in `release`, or in the first environment by name.
    ///
    /// - Returns: The service, and a description of the list if the file is a server list.
    /// - Throws: A ``CatalogError`` if the file is invalid, or if the list has expired by the clock of this machine.
    static func service(in file: URL) throws(CatalogError) -> (service: Service, list: String?) {
        guard let bytes = try? Data(contentsOf: file), bytes.isServerList else {
            return (try ServiceCatalog.service(contentsOf: file), nil)
        }
        let name = file.lastPathComponent
        let list: ServerListDocument
        do throws(ServerListRefusal) {
            list = try ServerListDocument(unverified: bytes)
        } catch {
            throw CatalogError(.invalidValue, file: name, expected: "a valid server list", found: "\(error)")
        }
        guard list.expires > Date() else {
            throw CatalogError(
                .invalidValue,
                file: name,
                at: "payload.expires",
                expected: "a time in the future",
                found: list.expires.iso8601
            )
        }
        let environments = list.servers.flatMap(\.baseURLs.keys).sorted { $0.rawValue < $1.rawValue }
        let standard = environments.contains(.release) ? .release : environments.first ?? .release
        let service = try Service(name: list.service, servers: list.servers, defaultEnvironment: standard)
        let note =
            "\(name): server list \(list.version) of the service \(list.service), expires \(list.expires.iso8601); "
            + "to check its signatures, use yard list check"
        return (service, note)
    }
}

extension Data {
    /// Whether the data is a JSON object with the members of a signed server list.
    fileprivate var isServerList: Bool {
        let value = try? JSONDecoder().decode(JSONValue.self, from: self)
        return value?["payload"] != nil && value?["signatures"] != nil
    }
}
