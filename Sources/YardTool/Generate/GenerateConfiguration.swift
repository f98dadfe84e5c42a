import Foundation
import SwitchyardGenerator

/// The options file of `yard generate`.
///
///     {
///       "name": "Shop",
///       "only": ["orders"],
///       "access": "public",
///       "hashable": true,
///       "servers": [{ "name": "secondary", "url": "https://api2.example.com/v1" }],
///       "lists": { "orders_list": "cursor", "orders_events": "none" }
///     }
struct GenerateConfiguration: Decodable {
    private struct Server: Decodable {
        var name: String
        var url: String
    }

    private var name: String?
    private var only: [String]?
    private var access: String?
    private var hashable: Bool?
    private var servers: [Server]?
    private var lists: [String: String]?

    private static let keys = ["name", "only", "access", "hashable", "servers", "lists"]
    private static let strategies = ["link", "nextLink", "cursor", "lastID", "offset", "page", "none"]

    /// Reads the options from a file.
    ///
    /// - Throws: ``UsageError`` that names the file and the key.
    static func options(_ path: String) throws(UsageError) -> GeneratorOptions {
        let configuration: GenerateConfiguration
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            for key in object?.keys.sorted() ?? [] where !keys.contains(key) {
                throw UsageError("\(path): unknown key \"\(key)\": must be one of " + keys.joined(separator: ", "))
            }
            configuration = try JSONDecoder().decode(Self.self, from: data)
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError("\(path): \(error.localizedDescription)")
        }
        return try configuration.options(path)
    }

    private func options(_ path: String) throws(UsageError) -> GeneratorOptions {
        var options = GeneratorOptions()
        options.name = name
        options.only = only ?? []
        options.isHashable = hashable ?? false
        options.servers = (servers ?? []).map { GeneratorOptions.Server(name: $0.name, url: $0.url) }
        options.lists = lists ?? [:]
        for (operation, strategy) in lists ?? [:] where !Self.strategies.contains(strategy) {
            let known = Self.strategies.joined(separator: ", ")
            throw UsageError("\(path): lists.\(operation) \"\(strategy)\" is invalid: must be one of \(known)")
        }
        if let access {
            guard let level = GeneratorOptions.Access(rawValue: access) else {
                throw UsageError("\(path): access \"\(access)\" is invalid: must be internal, package or public")
            }
            options.access = level
        }
        return options
    }
}
