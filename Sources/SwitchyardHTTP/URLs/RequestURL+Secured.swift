/// Replacement of plain HTTP URLs that HTTPS servers return.
///
/// If a proxy in front of a server terminates TLS, the server often does not know that its clients use HTTPS, and
/// returns HTTP URLs in `Location`, in links and in JSON. Such a URL is replaced by its HTTPS form and never requested
/// in plain text.
extension RequestURL {
    /// Returns the HTTPS form of this URL if `other` is an HTTPS URL of the same host, otherwise this URL.
    ///
    /// A plain HTTP URL is replaced if its port is 80, omitted, or the port of the HTTPS URL.
    ///
    /// - Parameter other: The URL of the server or of the page.
    /// - Returns: The URL.
    package func secured(like other: RequestURL) -> RequestURL {
        guard !isSecure, other.isSecure else { return self }
        var url = absolute
        let page = other.absolute
        let (origin, home) = (Origin(url), Origin(page))
        guard origin.host == home.host, origin.port == 80 || origin.port == home.port else { return self }
        url.isSecure = true
        url.authority.port = page.authority.port
        return RequestURL(url)
    }

    /// Returns the URL for `reference` in a response from this URL, and never downgrades from HTTPS to HTTP.
    ///
    /// - Parameter reference: The value of `Location`, or a link.
    /// - Returns: The URL, with HTTPS if this URL uses HTTPS and has the same host.
    /// - Throws: ``RequestError/url(text:reason:)``, with ``RequestError/URLReason/downgrade(from:)`` if `reference`
    ///   leads to plain HTTP and this URL is HTTPS.
    package func linked(to reference: String) throws(RequestError) -> RequestURL {
        let url = try resolving(reference).secured(like: self)
        try url.checkDowngrade(from: self)
        return url
    }

    /// Whether this URL is plain HTTP and on the host of an HTTPS base URL.
    package func isDowngrade(from base: BaseURL) -> Bool {
        !isSecure && base.url.isSecure && origin.host == base.origin.host
    }

    /// Throws an error if this URL is plain HTTP and `other` is HTTPS.
    ///
    /// - Throws: ``RequestError/URLReason/downgrade(from:)``.
    package func checkDowngrade(from other: RequestURL) throws(RequestError) {
        guard !isSecure, other.isSecure else { return }
        throw .url(text: text, reason: .downgrade(from: other.origin.description))
    }
}
