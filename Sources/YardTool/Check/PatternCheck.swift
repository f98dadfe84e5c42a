import Switchyard

/// A search for mistakes in the patterns of the requests that servers serve.
struct PatternCheck {
    /// The errors for patterns that match no request.
    private(set) var problems: [CatalogError] = []
    /// The warnings for patterns that match fewer requests than a reader may expect, one line each.
    private(set) var warnings: [String] = []

    /// Checks the patterns of the servers in a file.
    init(_ servers: [Server], in file: String? = nil) {
        for (index, server) in servers.enumerated() {
            guard case .matching(let texts) = server.serves else { continue }
            for (position, text) in texts.enumerated() {
                check(text, of: texts, at: "servers[\(index)].serves[\(position)]", in: file)
            }
        }
    }

    private mutating func check(_ text: String, of texts: [String], at place: String, in file: String?) {
        guard let pattern = try? ServedPattern(text, at: place) else { return }
        guard Self.matchesRequests(text) else {
            let expected = Self.correction(of: pattern).map { "a pattern that matches requests, such as \($0)" }
            return problems.append(
                CatalogError(
                    .invalidValue,
                    file: file,
                    at: place,
                    expected: expected ?? "a path without placeholders, dot segments and unnecessary percent escapes",
                    found: "\(text), which matches no request"
                )
            )
        }
        if let mistake = Self.mistake(in: pattern, text, of: texts) {
            warnings.append([file, place, mistake].compactMap(\.self).joined(separator: ": "))
        }
    }

    /// Whether a request can match a pattern.
    ///
    /// The example of the pattern is compared as the path of a request is, in normal form.
    private static func matchesRequests(_ text: String) -> Bool {
        guard let pattern = try? ServedPattern(text, at: ""),
            let role = try? ServerRole(Server(name: "server", baseURLs: [:], serves: .matching([text])), at: "")
        else { return false }
        return role.servedPath(HTTPMethod(pattern.method ?? "GET") ?? .get, at: pattern.example) != nil
    }

    /// Returns a pattern that matches the requests that were probably meant: with `*` for placeholders, and with a path
    /// in normal form.
    private static func correction(of pattern: ServedPattern) -> String? {
        let path = pattern.path.replacing(/\{[^\/{}]*\}/, with: "*")
        let normal = path.contains("?") ? nil : RequestURL("http://service" + path)?.pathInNormalForm
        return [path, normal].compactMap(\.self).map { "\(pattern.method ?? "*") \($0)" }.first(where: matchesRequests)
    }

    /// Returns a description of a probable mistake in a pattern that matches requests.
    private static func mistake(in pattern: ServedPattern, _ text: String, of texts: [String]) -> String? {
        if let query = pattern.path.firstMatch(of: /\?[^\/?]*=/) {
            let path = "\(pattern.method ?? "*") \(pattern.path[..<query.range.lowerBound])"
            return "\(text) has no query, because ? matches one character; \(path) matches every query"
        }
        guard pattern.path.hasSuffix("/"), pattern.path != "/", !texts.contains(String(text.dropLast())) else {
            return nil
        }
        return "\(text) matches only paths that end with a slash; \(text)** also matches everything below"
    }
}
