extension RequestURL {
    /// Scheme, host and port of a URL: what two URLs share that belong to one server (RFC 6454).
    public struct Origin: Sendable, Hashable, CustomStringConvertible {
        /// `http` or `https`.
        public let scheme: String
        /// The host in lower case, an IPv6 address in its brackets.
        public let host: String
        /// The port, also when the URL leaves it out: 80 and 443.
        public let port: Int

        init(isSecure: Bool, authority: URLAuthority) {
            scheme = isSecure ? "https" : "http"
            host = String(decoding: authority.host, as: UTF8.self).lowercased()
            port = authority.port ?? (isSecure ? 443 : 80)
        }

        package init(_ url: AbsoluteURL) {
            self.init(isSecure: url.isSecure, authority: url.authority)
        }

        /// The origin as a URL without path; the scheme's own port is left out.
        public var description: String {
            port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
        }
    }

    /// The parts of the URL.
    ///
    /// Every way to make a value has checked the text, so what is read here parses.
    package var absolute: AbsoluteURL {
        do { return try AbsoluteURL(text) } catch { preconditionFailure("A checked URL does not parse: \(error)") }
    }

    /// Scheme, host and port.
    public var origin: Origin { Origin(absolute) }

    /// The same URL without user and password.
    package var withoutUserInfo: RequestURL {
        var url = absolute
        guard url.authority.userInfo != nil else { return self }
        url.authority.userInfo = nil
        return RequestURL(trusted: String(decoding: url.bytes, as: UTF8.self))
    }

    /// The path, percent-encoded; may be empty.
    public var path: String { String(decoding: absolute.path, as: UTF8.self) }

    /// The query as it will be sent, percent-encoded, without its question mark; `nil` when there is none.
    public var query: String? { URLParts(Array(text.utf8)).query.map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the URL that `reference` means on this page (RFC 3986 section 5.2), for redirects and links.
    ///
    /// - Parameter reference: An absolute URL, or a path, query or host relative to this URL.
    /// - Returns: The URL; its fragment is dropped.
    /// - Throws: ``RequestError/url(text:reason:)`` when the result is no http or https URL.
    public func resolving(_ reference: String) throws(RequestError) -> RequestURL {
        let joiner = try URLJoiner(path: reference, on: BaseURL(self), join: .relative, secured: false)
        return RequestURL(trusted: joiner.output.text())
    }
}

extension RequestURL {
    /// Whether the scheme is https; looks at the first bytes only.
    package var isSecure: Bool {
        let secure: StaticString = "https:"
        return zip(text.utf8, 0..<6).allSatisfy { byte, index in
            byte | 0x20 == secure.utf8Start[index] | 0x20
        }
    }
}
