import Switchyard

/// A search for mistakes in the patterns of the requests that servers serve.
struct PatternCheck {
    /// The errors for patterns that match no request.
    private(set) var problems: [CatalogError] = []
    /// The warnings for patterns that match fewer requests than a reader may expect, one line each.
    private(set) var warnings: [String] = []

    /// The paths of the base URLs that have a path, each with the name of its server.
    private let basePaths: [(path: String, server: String)]
    private let file: String?

    /// Checks the patterns of the servers in a file.
    init(_ servers: [Server], in file: String? = nil) {
        self.file = file
        basePaths = servers.flatMap { server in
            Set(server.baseURLs.values.compactMap(Self.path)).sorted().map { ($0, server.name) }
        }
        for (index, server) in servers.enumerated() {
            checkRewrites(of: server, at: "servers[\(index)].rewrites")
            guard case .matching(let texts) = server.serves else { continue }
            for (position, text) in texts.enumerated() {
                check(text, of: texts, at: "servers[\(index)].serves[\(position)]")
            }
        }
    }

    /// Returns the path of a base URL without its trailing slash, or `nil` if the path is empty or `/`.
    private static func path(of url: ServerURL) -> String? {
        let path = RequestURL(url.text)?.pathInNormalForm ?? ""
        let stem = path.hasSuffix("/") ? String(path.dropLast()) : path
        return stem.isEmpty ? nil : stem
    }

    private mutating func checkRewrites(of server: Server, at place: String) {
        for source in server.rewrites.keys.sorted() {
            guard let base = basePath(of: source) else { continue }
            warn(
                "\(place).\(source)",
                "\(source) begins with \(base.path), the path of a base URL of \(base.server), but paths are relative to "
                    + "the base URL; \(Self.rest(of: source, below: base.path)) matches the requests below the base URL"
            )
        }
    }

    /// Returns the path of the base URL that is the beginning of `path`, or `nil` if there is none.
    private func basePath(of path: String) -> (path: String, server: String)? {
        let slashed = path.hasPrefix("/") ? path : "/\(path)"
        return basePaths.first { slashed == $0.path || slashed.hasPrefix("\($0.path)/") }
    }

    private static func rest(of path: String, below base: String) -> String {
        let rest = (path.hasPrefix("/") ? path : "/\(path)").dropFirst(base.count)
        return rest.isEmpty ? "/" : String(rest)
    }

    private mutating func warn(_ place: String, _ mistake: String) {
        warnings.append([file, place, mistake].compactMap(\.self).joined(separator: ": "))
    }

    private mutating func check(_ text: String, of texts: [String], at place: String) {
        guard let pattern = try? ServedPattern(text, at: place) else { return }
        guard Self.matchesRequests(text) else {
            let expected = Self.correction(of: pattern).map { "a pattern that matches requests, such as \($0)" }
            return problems.append(
                CatalogError(
                    .invalidValue,
                    file: file,
                    at: place,
                    expected: expected ?? "a path without placeholders, dot segments or unnecessary percent escapes",
                    found: "\(text), which matches no request"
                )
            )
        }
        if let mistake = baseMistake(in: pattern, text) ?? Self.mistake(in: pattern, text, of: texts) {
            warn(place, mistake)
        }
    }

    /// Whether a request can match a pattern.
    ///
    /// The pattern's example path is brought into normal form before it is compared, like the path of a request.
    private static func matchesRequests(_ text: String) -> Bool {
        guard let pattern = try? ServedPattern(text, at: ""),
            let role = try? ServerRole(Server(name: "server", baseURLs: [:], serves: .matching([text])), at: "")
        else { return false }
        return role.servedPath(HTTPMethod(pattern.method ?? "GET") ?? .get, at: pattern.example) != nil
    }

    /// Returns the pattern that was probably meant: with `*` in place of `{…}` placeholders and, if necessary, with its
    /// path in normal form.
    private static func correction(of pattern: ServedPattern) -> String? {
        let path = pattern.path.replacing(/\{[^\/{}]*\}/, with: "*")
        let normal = path.contains("?") ? nil : RequestURL("http://service" + path)?.pathInNormalForm
        return [path, normal].compactMap(\.self).map { "\(pattern.method ?? "*") \($0)" }.first(where: matchesRequests)
    }

    /// Returns a description of the mistake in a pattern that begins with the path of a base URL.
    private func baseMistake(in pattern: ServedPattern, _ text: String) -> String? {
        guard let base = basePath(of: pattern.path) else { return nil }
        let correct = "\(pattern.method ?? "*") \(Self.rest(of: pattern.path, below: base.path))"
        return
            "\(text) begins with \(base.path), the path of a base URL of \(base.server), but patterns are relative to the "
            + "base URL; \(correct) matches the requests below the base URL"
    }

    /// Returns a description of a probable mistake in a pattern that matches requests.
    private static func mistake(in pattern: ServedPattern, _ text: String, of texts: [String]) -> String? {
        if let query = pattern.path.firstMatch(of: /\?[^\/?]*=/) {
            let path = "\(pattern.method ?? "*") \(pattern.path[..<query.range.lowerBound])"
            return "the ? in \(text) matches one character and does not begin a query; "
                + "\(path) matches requests with any query"
        }
        guard pattern.path.hasSuffix("/"), pattern.path != "/", !texts.contains(String(text.dropLast())) else {
            return nil
        }
        return "\(text) matches only paths that end with a slash; \(text)** also matches the paths below"
    }
}
