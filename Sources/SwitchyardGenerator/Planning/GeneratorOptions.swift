import Foundation

/// The options for a generated client.
public struct GeneratorOptions: Sendable {
    /// A fallback server of the generated service: a server that is used if the first server fails.
    public struct Server: Sendable, Hashable {
        /// The name of the server, which must be unique within the service.
        public var name: String
        /// The base URL of the server.
        public var url: String

        /// Creates a fallback server with a name and a base URL.
        public init(name: String, url: String) {
            self.name = name
            self.url = url
        }
    }

    /// The name of the root type.
    ///
    /// If `nil` (the default), the name is derived from the title of the document.
    public var name: String?
    /// The tags, operation identifiers and paths for which code is generated.
    ///
    /// If empty (the default), code is generated for all operations.
    public var only: [String] = []
    /// The fallback servers, in order of preference after the servers of the document.
    public var servers: [Server] = []
    /// Whether models conform to `Hashable`; the default is `false`.
    public var isHashable = false
    /// The access level of all generated declarations; the default is `internal`.
    public var access = Access.internal
    /// The paging rules to use instead of the detected rules, by operation identifier.
    ///
    /// The rule `none` marks an operation that does not return a paged list.
    public var lists: [String: String] = [:]
    /// The command line that the header of each generated file shows.
    ///
    /// Empty (the default) for none.
    public var command = ""

    /// The access levels of generated code.
    public enum Access: String, Sendable, CaseIterable {
        case `internal`
        case package
        case `public`
    }

    /// Creates options with the default values.
    public init() {}

    /// The name of the main service.
    var serviceName: String { (name ?? "service").lowercased() }
    /// The access modifier before a declaration.
    var prefix: String { access == .internal ? "" : "\(access.rawValue) " }
}
