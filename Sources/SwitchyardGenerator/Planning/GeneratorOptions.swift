import Foundation

/// The options for a generated client.
public struct GeneratorOptions: Sendable {
    /// A fallback server of the service.
    public struct Server: Sendable, Hashable {
        /// The name, unique within the service.
        public var name: String
        /// The base URL.
        public var url: String

        /// Creates a server.
        public init(name: String, url: String) {
            self.name = name
            self.url = url
        }
    }

    /// The name of the root type.
    ///
    /// If `nil` (the default), the name is derived from the title of the document.
    public var name: String?
    /// The tags, operation identifiers and paths to generate.
    ///
    /// If empty (the default), all operations are generated.
    public var only: [String] = []
    /// Fallback servers for the servers of the document.
    public var servers: [Server] = []
    /// Whether models conform to `Hashable`; the default is `false`.
    public var isHashable = false
    /// The access level of all generated declarations; the default is `internal`.
    public var access = Access.internal
    /// The paging strategies of lists by operation identifier, which override the detected strategies.
    public var lists: [String: String] = [:]
    /// The command that the header of each file names; the default is none.
    public var command = ""

    /// The access levels of generated code.
    public enum Access: String, Sendable, CaseIterable {
        case `internal`
        case package
        case `public`
    }

    /// Creates options.
    public init() {}

    /// The name of the main service.
    var serviceName: String { (name ?? "service").lowercased() }
    /// The access modifier before a declaration.
    var prefix: String { access == .internal ? "" : "\(access.rawValue) " }
}
