public import Foundation

/// A cookie that a server has set (RFC 6265).
public struct Cookie: Sendable, Hashable {
    /// The `SameSite` attribute: the cross-site requests that may carry the cookie.
    ///
    /// An API client sends no cross-site requests, so the attribute is stored without effect.
    public enum SameSite: String, Sendable, Hashable {
        /// No cross-site request carries the cookie.
        case strict
        /// Only top-level navigations from other sites carry the cookie.
        case lax
        /// All cross-site requests carry the cookie.
        ///
        /// Requires `Secure`.
        case none
    }

    /// The name, which is never empty.
    public var name: String
    /// The value as received, including quotes.
    public var value: String
    /// The host, or the domain if ``isHostOnly`` is `false`, in lower case and without a leading dot.
    public var domain: String
    /// Whether the cookie is sent only to the exact host and not to its subdomains.
    public var isHostOnly: Bool
    /// The path prefix of the URLs to which the cookie is sent.
    public var path: String
    /// The expiry date.
    ///
    /// If `nil`, the cookie lasts for the session, which is the lifetime of the jar.
    public var expires: Date?
    /// Whether the cookie is sent only over HTTPS.
    ///
    /// Requests to the local machine count as secure.
    public var isSecure: Bool
    /// Whether scripts must not read the cookie.
    ///
    /// The attribute is stored without effect.
    public var isHTTPOnly: Bool
    /// The `SameSite` attribute, or `nil` if the server did not set it.
    public var sameSite: SameSite?

    /// Creates a cookie, by default a session cookie for all paths of exactly one host.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        sameSite: SameSite? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// Whether the cookie has expired at a given time.
    package func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether the cookie is sent with a request to a URL.
    ///
    /// A secure cookie is sent over HTTPS, or over HTTP to the local machine. The local machine may also set secure
    /// cookies over HTTP.
    package func isSent(to url: RequestURL) -> Bool {
        let origin = url.origin
        guard !isSecure || origin.scheme == "https" || CookieMatching.isLocal(origin.host) else { return false }
        guard isHostOnly ? origin.host == domain : CookieMatching.domain(domain, covers: origin.host) else {
            return false
        }
        return CookieMatching.path(path, covers: url.path)
    }
}

/// The matching rules for domains and paths (RFC 6265 section 5.1).
enum CookieMatching {
    /// Whether a host is the domain or a subdomain of it.
    ///
    /// An IP address has no domain above it.
    static func domain(_ domain: String, covers host: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(".\(domain)") && !isAddress(host)
    }

    /// Whether the path of a request is the cookie's path or below it.
    static func path(_ path: String, covers requestPath: String) -> Bool {
        let requestPath = requestPath.isEmpty ? "/" : requestPath
        guard requestPath.utf8.starts(with: path.utf8) else { return false }
        if requestPath.utf8.count == path.utf8.count || path.hasSuffix("/") { return true }
        return requestPath.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }

    /// Returns the default path of a cookie without a `Path` attribute: the request's path up to its last slash.
    static func defaultPath(_ requestPath: String) -> String {
        guard requestPath.hasPrefix("/"), let slash = requestPath.lastIndex(of: "/"), slash > requestPath.startIndex
        else {
            return "/"
        }
        return String(requestPath[..<slash])
    }

    /// Returns the cookies in the value of a `Cookie` field, each as `name=value`.
    static func pairs(in value: String) -> [String] {
        value.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns the value of a `Cookie` field with only the cookies (`name=value`) that satisfy a condition, or `nil` if
    /// no cookie does.
    static func value(_ value: String, where isIncluded: (String) -> Bool) -> String? {
        let included = pairs(in: value).filter(isIncluded)
        return included.isEmpty ? nil : included.joined(separator: "; ")
    }

    static func names(in value: String) -> [String] { pairs(in: value).map(name) }

    /// Returns the name of a cookie that is given as `name=value`.
    static func name(of pair: String) -> String {
        pair.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces)
    }

    static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return true }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count == 4 && labels.allSatisfy { UInt8($0) != nil }
    }
}
