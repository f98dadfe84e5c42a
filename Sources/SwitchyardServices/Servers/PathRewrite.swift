/// A rule that replaces a path of the service by a path of one server.
///
/// Both paths are relative to the base URL. If both end with `/**`, the rule applies to the folder and everything below
/// it, and the rest of the path is kept.
package struct PathRewrite: Sendable, Hashable {
    private static let rest = "/**"

    /// The path of the service with a leading slash, without `/**`.
    package let source: String
    /// The path of the server with a leading slash, without `/**`.
    package let target: String
    /// Whether the rule applies to everything below the source, and keeps the rest of the path.
    package let keepsRest: Bool

    /// Returns the rules of a server: the exact paths first, and then the folders, the longest first.
    ///
    /// - Throws: The ``CatalogError`` of the first invalid rule.
    package static func all(in rewrites: [String: String], at place: String) throws(CatalogError) -> [PathRewrite] {
        var rules: [PathRewrite] = []
        for (source, target) in rewrites.sorted(by: { $0.key < $1.key }) {
            let rule = try PathRewrite(source, to: target, at: "\(place).\(source)")
            guard !rules.contains(where: { $0.source == rule.source && $0.keepsRest == rule.keepsRest }) else {
                let expected = "each path only once"
                throw CatalogError(.invalidValue, at: "\(place).\(source)", expected: expected, found: source)
            }
            rules.append(rule)
        }
        return rules.sorted { left, right in
            left.keepsRest == right.keepsRest ? left.source.utf8.count > right.source.utf8.count : !left.keepsRest
        }
    }

    private init(_ source: String, to target: String, at place: String) throws(CatalogError) {
        keepsRest = source.hasSuffix(Self.rest)
        guard keepsRest == target.hasSuffix(Self.rest) else {
            let expected =
                keepsRest
                ? "a path that ends with /**, because its key does"
                : "a path that does not end with /**, because its key does not"
            throw CatalogError(.invalidValue, at: place, expected: expected, found: target)
        }
        self.source = try Self.path(source, at: place)
        self.target = try Self.path(target, at: place)
    }

    /// Returns a path with a leading slash and without `/**`.
    private static func path(_ text: String, at place: String) throws(CatalogError) -> String {
        let stem = text.hasSuffix(rest) ? String(text.dropLast(rest.count)) : text
        let isPath =
            !text.isEmpty && !text.hasPrefix("//") && !text.contains("://")
            && !stem.split(separator: "/").contains { $0 == "." || $0 == ".." }
            && stem.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"?#*\"<>\\^`{|}".utf8.contains($0) }
        guard isPath else {
            let expected = "a path relative to the base URL, or a folder followed by /**"
            throw CatalogError(.invalidValue, at: place, expected: expected, found: text)
        }
        return stem.isEmpty || stem.hasPrefix("/") ? stem : "/\(stem)"
    }

    /// Returns the path of the server for a path of the service, or `nil` if the rule does not apply.
    ///
    /// Both paths have a leading slash and no query.
    package func applied(to path: String) -> String? { Self.replace(source, by: target, in: path, keepsRest) }

    /// Returns the path of the service that the rule maps to a path of the server, or `nil` if there is none.
    package func reversed(from path: String) -> String? { Self.replace(target, by: source, in: path, keepsRest) }

    private static func replace(_ old: String, by new: String, in path: String, _ keepsRest: Bool) -> String? {
        guard keepsRest else { return path == old ? new : nil }
        guard path.utf8.starts(with: old.utf8) else { return nil }
        let rest = path.utf8.dropFirst(old.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") ? new + String(decoding: rest, as: UTF8.self) : nil
    }
}
