import Foundation

/// Plans the services of a client from the `servers` of a document.
struct ServicePlanner {
    let options: GeneratorOptions
    private(set) var services: [ClientPlan.ServicePlan] = []
    private(set) var notes: [GeneratorNote] = []
    private var numbers: [String: Int] = [:]
    private var names = NameTable()

    init(options: GeneratorOptions) {
        self.options = options
    }

    /// Returns a text that is equal for lists of servers that form the same service.
    static func key(of servers: [Place]) -> String { servers.map { $0.text("url") ?? "" }.joined(separator: "\n") }

    /// Returns the index of the service with these servers.
    ///
    /// If there is no such service, adds it.
    mutating func service(for servers: [Place], isMain: Bool, root: Place) throws(GeneratorError) -> Int {
        let key = Self.key(of: servers)
        if let number = numbers[key] { return number }
        let number = services.count
        numbers[key] = number
        services.append(try plan(servers, isMain: isMain, root: root))
        return number
    }

    private mutating func plan(
        _ servers: [Place],
        isMain: Bool,
        root: Place
    ) throws(GeneratorError) -> ClientPlan.ServicePlan {
        var environments: [ClientPlan.ServicePlan.Environment] = []
        var table = NameTable()
        var template: String?
        var variables: [ClientPlan.ServicePlan.Variable] = []
        for (index, server) in servers.enumerated() {
            let expanded = try Self.expanded(server)
            for (url, suffix) in expanded.urls {
                guard Self.isUsable(url) else {
                    notes.append(
                        GeneratorNote(
                            .skipped,
                            "the server URL \"\(url)\" is not absolute: use --server to set one",
                            at: server
                        )
                    )
                    continue
                }
                let name = Self.environmentName(of: server, url, isFirst: index == 0)
                environments.append(.init(name: table.unique(suffix.isEmpty ? name : "\(name)-\(suffix)"), url: url))
            }
            if template == nil, !expanded.free.isEmpty {
                template = server.text("url")
                variables = expanded.free
            }
        }
        var fallbacks = isMain ? try fallbacks(root) : []
        if environments.isEmpty, !fallbacks.isEmpty {
            environments.append(.init(name: "release", url: fallbacks.removeFirst().url))
        }
        let label = environments.first.flatMap { URL(string: $0.url)?.host }?.split(separator: ".").first.map(
            String.init
        )
        let base = options.serviceName
        return ClientPlan.ServicePlan(
            name: names.unique(isMain ? base : "\(base)-\(label ?? "other")"),
            environments: environments,
            template: template,
            variables: variables,
            fallbacks: fallbacks
        )
    }

    /// Returns the fallback servers: first the servers in the options, then the servers in the document
    /// (`x-switchyard-servers`).
    private func fallbacks(_ root: Place) throws(GeneratorError) -> [(name: String, url: String)] {
        for server in options.servers where !Self.isUsable(server.url) {
            throw GeneratorError(Self.invalid(server.url, server.name))
        }
        var fallbacks = options.servers.map { (name: $0.name, url: $0.url) }
        for place in root["x-switchyard-servers"]?.elements ?? [] {
            guard let name = place.text("name"), let url = place.text("url") else {
                throw place.error("a server under \"x-switchyard-servers\" must have a \"name\" and a \"url\"")
            }
            guard Self.isUsable(url) else { throw place.error(Self.invalid(url, name)) }
            fallbacks.append((name, url))
        }
        return fallbacks
    }

    private static func invalid(_ url: String, _ name: String) -> String {
        "the URL \"\(url)\" of the server \"\(name)\" is invalid: must be an http or https URL without a query"
    }

    private static func isUsable(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else { return false }
        return (scheme == "http" || scheme == "https") && parts.host?.isEmpty == false && parts.query == nil
    }

    /// Returns the URLs of a server, one for each combination of the listed values of its variables, and the variables
    /// that have no listed values.
    private static func expanded(
        _ server: Place
    ) throws(GeneratorError) -> (urls: [(url: String, suffix: String)], free: [ClientPlan.ServicePlan.Variable]) {
        guard let text = try server.string("url") else { throw server.error("a server must have a \"url\"") }
        var urls = [(url: text, suffix: "")]
        var free: [ClientPlan.ServicePlan.Variable] = []
        for (name, variable) in try server.object("variables")?.members ?? [] {
            guard let value = variable.text("default") else {
                throw variable.error("the server variable \"\(name)\" must have a \"default\"")
            }
            let listed = variable["enum"]?.elements.compactMap(\.node.scalarText) ?? []
            if listed.isEmpty {
                free.append(.init(name: name, value: value, description: variable.text("description")))
            }
            let values =
                listed.isEmpty || urls.count * listed.count > 32 ? [value] : [value] + listed.filter { $0 != value }
            urls = urls.flatMap { url in
                values.map { item in
                    let suffix = [url.suffix, item == value ? "" : item].filter { !$0.isEmpty }.joined(separator: "-")
                    return (url.url.replacing("{\(name)}", with: item), suffix)
                }
            }
        }
        return (urls, free)
    }

    /// Returns the name of the environment of a server.
    ///
    /// It comes from a known word in the server's description, otherwise from the words of the description, otherwise
    /// from the host.
    private static func environmentName(of server: Place, _ url: String, isFirst: Bool) -> String {
        let words = SwiftName.words(of: server.text("description") ?? "")
        for word in words {
            switch word {
            case "production", "live", "prod", "main": return "release"
            case "test", "testing", "sandbox", "staging", "stage", "mock", "demo", "beta":
                return word == "testing" ? "test" : word
            case "development", "develop", "dev", "local", "localhost": return "develop"
            default: continue
            }
        }
        if isFirst { return "release" }
        if server.text("description") != nil, (1...4).contains(words.count) { return words.joined(separator: "-") }
        return URL(string: url)?.host?.split(separator: ".").first.map(String.init) ?? "other"
    }
}
