import Foundation

/// What a client is generated with.
public struct GeneratorOptions: Sendable {
    /// A further server of the service.
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

    /// The name of the root type; made of the title of the document if `nil`, the default.
    public var name: String?
    /// Tags, operation identifiers and paths that are generated; everything if empty, the default.
    public var only: [String] = []
    /// Servers that stand in for those of the document.
    public var servers: [Server] = []
    /// Whether models are `Hashable`; `false` by default.
    public var isHashable = false
    /// The access level of everything that is generated; `internal` by default.
    public var access = Access.internal
    /// How lists are read, by operation identifier, in place of what the rules find.
    public var lists: [String: String] = [:]
    /// The command that the header of each file names; none by default.
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
    /// The access level in front of a declaration.
    var prefix: String { access == .internal ? "" : "\(access.rawValue) " }
}
