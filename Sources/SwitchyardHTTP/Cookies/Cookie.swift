public import Foundation

/// One cookie, as a server set it (RFC 6265).
public struct Cookie: Sendable, Hashable {
    /// To which requests of other sites a cookie is attached; an API client sends all of them, so it is kept only.
    public enum SameSite: String, Sendable, Hashable {
        /// To none.
        case strict
        /// To navigations.
        case lax
        /// To all; needs `Secure`.
        case none
    }

    /// The name; never empty.
    public var name: String
    /// The value as it came, quotes included.
    public var value: String
    /// The host, or the domain when ``isHostOnly`` is off; in lower case, without a leading dot.
    public var domain: String
    /// Whether the cookie belongs to the host alone, and not to hosts below it.
    public var isHostOnly: Bool
    /// The path below which it is sent.
    public var path: String
    /// When it goes; `nil` for the end of the session, which is the life of the jar.
    public var expires: Date?
    /// Whether it is sent over https only; this machine counts as secure.
    public var isSecure: Bool
    /// Whether scripts may not read it; of no meaning here, kept for the record.
    public var isHTTPOnly: Bool
    /// To which requests of other sites it is attached; `nil` when the server did not say.
    public var sameSite: SameSite?

    /// Creates a cookie.
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

    /// Whether the cookie has gone at that time.
    public func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether the cookie is sent with a request to that URL.
    ///
    /// A secure one goes over https, and over http to this machine alone, as it is taken from there.
    public func isSent(to url: RequestURL) -> Bool {
        let origin = url.origin
        guard !isSecure || origin.scheme == "https" || CookieMatching.isLocal(origin.host) else { return false }
        guard isHostOnly ? origin.host == domain : CookieMatching.domain(domain, covers: origin.host) else {
            return false
        }
        return CookieMatching.path(path, covers: url.path)
    }
}

/// The matching rules of RFC 6265 section 5.1.
enum CookieMatching {
    /// Whether a host is the domain or lies below it; an address lies below nothing.
    static func domain(_ domain: String, covers host: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(".\(domain)") && !isAddress(host)
    }

    /// Whether a request's path is the cookie's path or lies below it.
    static func path(_ path: String, covers requestPath: String) -> Bool {
        let requestPath = requestPath.isEmpty ? "/" : requestPath
        guard requestPath.utf8.starts(with: path.utf8) else { return false }
        if requestPath.utf8.count == path.utf8.count || path.hasSuffix("/") { return true }
        return requestPath.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }

    /// The path that a cookie has without one of its own: that of the request up to its last slash.
    static func defaultPath(_ requestPath: String) -> String {
        guard requestPath.hasPrefix("/"), let slash = requestPath.lastIndex(of: "/"), slash > requestPath.startIndex
        else {
            return "/"
        }
        return String(requestPath[..<slash])
    }

    /// Whether a host is an IP address.
    static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return true }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count == 4 && labels.allSatisfy { UInt8($0) != nil }
    }
}
