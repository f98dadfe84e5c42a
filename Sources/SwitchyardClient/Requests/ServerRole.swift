package import SwitchyardHTTP
package import SwitchyardServices

/// The role of a server that does not serve all requests, or whose paths differ from those of the service.
package final class ServerRole: Sendable {
    private struct Pattern: Sendable {
        /// The method that a request must have, or `nil` for any method.
        var method: HTTPMethod?
        var path: URLPattern
    }

    /// The patterns of the requests that the server serves, or `nil` if it serves every path.
    private let patterns: [Pattern]?
    private let servesReadsOnly: Bool
    private let rewrites: [PathRewrite]

    /// Whether the server serves every request.
    var servesEverything: Bool { patterns == nil && !servesReadsOnly }

    /// Prepares the role of a server, or returns `nil` if the server serves every request under the service's paths.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - place: The path of the server in the service file, such as `servers[0]`, for error messages.
    /// - Throws: The ``CatalogError`` of an invalid pattern, or of a rewrite for a path that the server does not serve.
    package init?(_ server: Server, at place: String) throws(CatalogError) {
        guard server.serves != .everything || !server.rewrites.isEmpty else { return nil }
        servesReadsOnly = server.serves == .reads
        var patterns: [Pattern]?
        if case .matching(let texts) = server.serves {
            patterns = try texts.enumerated().map { (index, text) throws(CatalogError) in
                let pattern = try ServedPattern(text, at: "\(place).serves[\(index)]")
                return Pattern(method: pattern.method.flatMap { HTTPMethod($0) }, path: URLPattern(pattern.path))
            }
        }
        self.patterns = patterns
        rewrites = try PathRewrite.all(in: server.rewrites, at: "\(place).rewrites")
        for rewrite in rewrites where !mayApply(rewrite) {
            let source = server.rewrites.keys.sorted().first { $0.contains(rewrite.source) } ?? rewrite.source
            throw CatalogError(
                .invalidValue,
                at: "\(place).rewrites.\(source)",
                expected: "a path that the server serves: \(server.serves.texts.joined(separator: ", "))",
                found: source
            )
        }
    }

    /// Whether the server serves a path to which a rewrite applies.
    private func mayApply(_ rewrite: PathRewrite) -> Bool {
        guard let patterns else { return true }
        return patterns.contains { pattern in
            guard rewrite.keepsRest else { return ServicePath.matches(pattern.path, rewrite.source) }
            // The text before the first wildcard must begin with the rewrite's folder, or the folder with that text.
            let literal = pattern.path.text.prefix { !"*?".contains($0) }
            let isBelow = literal.hasPrefix(rewrite.source) || rewrite.source.hasPrefix(literal)
            return isBelow && (literal.count < pattern.path.text.count || literal.hasPrefix(rewrite.source))
        }
    }
}

extension ServerRole {
    /// Whether the server serves a request with this method and path.
    ///
    /// The path starts with a slash and has no query. It is `nil` for a URL that is not below the base URL. If the
    /// server has a list of patterns, it does not serve such a URL.
    func serves(_ method: HTTPMethod, _ path: String?) -> Bool {
        guard let patterns else { return !servesReadsOnly || method.isSafe }
        guard let path, ServicePath.isPlain(path) else { return false }
        return patterns.contains { pattern in
            (pattern.method ?? method) == method && ServicePath.matches(pattern.path, path)
        }
    }

    /// Whether a request that has been built for the server may be sent to it.
    ///
    /// The URL is that of the server, so its path may be the target of a rewrite.
    func serves(_ method: HTTPMethod, at url: RequestURL, below base: BaseURL) -> Bool {
        if servesEverything { return true }
        guard let path = ServicePath.path(of: url, below: base) else { return serves(method, nil) }
        return serves(method, path) || rewrites.contains { $0.reversed(from: path).map { serves(method, $0) } ?? false }
    }

    /// Returns the path of the service for a request that the server receives.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - path: The percent-encoded path below the base URL, with a leading slash.
    /// - Returns: The path in normal form, or `nil` if no client sends such a request, because the server does not
    ///   serve the request or has another path for it.
    package func servedPath(_ method: HTTPMethod, at path: String) -> String? {
        guard let path = ServicePath.normalized(path) else { return nil }
        let own = servicePath(of: path)
        return (target(of: own) ?? own) == path && serves(method, own) ? own : nil
    }

    /// Returns a URL after the server's path rewrites, or the same URL if no rewrite applies.
    func rewritten(_ url: RequestURL, below base: BaseURL) -> RequestURL {
        guard !rewrites.isEmpty, let path = ServicePath.path(of: url, below: base),
            let target = self.target(of: path)
        else { return url }
        let folder = String(decoding: base.folder.dropLast(), as: UTF8.self)
        let query = url.query.map { "?\($0)" } ?? ""
        return RequestURL(trusted: ServicePath.origin(of: url) + folder + target + query)
    }

    /// Returns the path of the server for a path of the service, or `nil` if no rewrite applies.
    private func target(of path: String) -> String? { rewrites.lazy.compactMap { $0.applied(to: path) }.first }

    /// Returns the path of the service for a path of the server.
    func servicePath(of path: String) -> String {
        rewrites.lazy.compactMap { $0.reversed(from: path) }.first ?? path
    }
}
