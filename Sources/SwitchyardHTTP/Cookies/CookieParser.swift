package import Foundation
import SwitchyardServices

extension Cookie {
    /// Creates a cookie from a `Set-Cookie` value (RFC 6265 section 5.2).
    ///
    /// Returns `nil` if the cookie has no name, contains a control character, names a domain that does not contain the
    /// host, is `Secure` but was received without TLS, or violates the rules for `__Secure-` or `__Host-` names. A
    /// lifetime of zero or less creates an expired cookie.
    ///
    /// - Parameters:
    ///   - header: The value of one `Set-Cookie` field.
    ///   - url: The URL that returned the response.
    ///   - now: The current time, from which `Max-Age` counts.
    package init?(setCookie header: String, from url: RequestURL, now: Date) {
        guard !header.unicodeScalars.contains(where: { $0.value < 32 && $0.value != 9 || $0.value == 127 }) else {
            return nil
        }
        // Split by scalars, because a combining mark after a separator would hide the separator from a split by
        // characters.
        let pieces = header.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = pieces.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals].trimmed
        guard !name.isEmpty else { return nil }
        let origin = url.origin
        self.init(name: name, value: pair[pair.index(after: equals)...].trimmed, domain: origin.host)
        path = CookieMatching.defaultPath(url.path)
        var attributes = CookieAttributes()
        for piece in pieces.dropFirst() { attributes.read(piece, now: now) }
        guard apply(attributes, host: origin.host) else { return nil }
        if isSecure, origin.scheme != "https", !CookieMatching.isLocal(origin.host) { return nil }
        guard hasAllowedPrefix(hasOwnPath: attributes.path != nil) else { return nil }
    }

    private mutating func apply(_ attributes: CookieAttributes, host: String) -> Bool {
        // If the last `Domain` attribute is only a dot, the cookie has no domain, even if an earlier attribute names a
        // domain.
        let given = attributes.domain.flatMap { $0.isEmpty ? nil : $0 }
        if let domain = given, domain != host {
            // There is no public suffix list, but a domain of a single label is always a public suffix.
            guard domain.contains("."), CookieMatching.domain(domain, covers: host) else { return false }
        }
        if let domain = given, !CookieMatching.isAddress(host) {
            self.domain = domain
            isHostOnly = false
        }
        if let path = attributes.path { self.path = path }
        expires = attributes.maxAge ?? attributes.expires
        isSecure = attributes.isSecure
        isHTTPOnly = attributes.isHTTPOnly
        sameSite = attributes.sameSite
        return true
    }

    private func hasAllowedPrefix(hasOwnPath: Bool) -> Bool {
        let lower = name.lowercased()
        if lower.hasPrefix("__secure-") { return isSecure }
        if lower.hasPrefix("__host-") { return isSecure && isHostOnly && hasOwnPath && path == "/" }
        return true
    }
}

extension CookieMatching {
    /// Whether a host is the local machine, for which HTTP counts as secure.
    static func isLocal(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1" || host == "[::1]"
    }
}

/// The attributes of a `Set-Cookie` value.
///
/// If an attribute is repeated, the last one wins.
private struct CookieAttributes {
    var domain: String?
    var path: String?
    var expires: Date?
    var maxAge: Date?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?

    mutating func read(_ piece: Substring.UnicodeScalarView, now: Date) {
        let equals = piece.firstIndex(of: "=")
        let name = piece[..<(equals ?? piece.endIndex)].trimmed.lowercased()
        let value = equals.map { piece[piece.index(after: $0)...].trimmed } ?? ""
        switch name {
        case "domain": if !value.isEmpty { domain = Self.canonical(value) }
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "expires": if let date = CookieDate.parse(value) { expires = date }
        case "max-age": readMaxAge(value, now: now)
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(rawValue: value.lowercased())
        default: break
        }
    }

    /// Returns the domain as hosts are written in URLs: without a leading dot, in lower case, and non-ASCII labels in
    /// ASCII form.
    private static func canonical(_ domain: String) -> String {
        let name = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        // An invalid name stays unchanged and matches no host.
        let isName = !name.unicodeScalars.contains { "/\\?#@:[]".unicodeScalars.contains($0) }
        guard isName, !name.utf8.allSatisfy({ $0 < 128 }) else { return name }
        return RequestURL("https://\(name)/")?.origin.host ?? name
    }

    private mutating func readMaxAge(_ value: String, now: Date) {
        let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return }
        // A number that is too large becomes infinity and is capped at 400 days (RFC 6265bis). A negative number
        // expires the cookie.
        let seconds = value.hasPrefix("-") ? 0 : min(Double(digits) ?? .infinity, 400 * 86_400)
        maxAge = seconds > 0 ? now.addingTimeInterval(seconds) : .distantPast
    }
}
