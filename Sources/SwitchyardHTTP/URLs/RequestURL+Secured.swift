/// Plain http URLs that belong to an https server.
///
/// A server behind a proxy that ends TLS often does not know that its clients use https, and names itself by http in
/// `Location`, in links and in JSON. Such a URL means the https one; it is never asked in the clear.
extension RequestURL {
    /// Returns the https URL that this URL means beside an https URL of the same host; this URL in all other cases.
    ///
    /// A plain http URL means the https one if its port is 80, is left out, or is the port of the https URL.
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
        return RequestURL(trusted: String(decoding: url.bytes, as: UTF8.self))
    }

    /// Returns the URL that `reference` means in a response from this URL, never one that leads from https to http.
    ///
    /// - Parameter reference: The value of `Location`, or a link.
    /// - Returns: The URL; of this host under https if this URL is.
    /// - Throws: ``RequestError/url(text:reason:)``, with ``RequestError/URLReason/downgrade(from:)`` if the URL is plain
    ///   http and this one is not.
    package func linked(to reference: String) throws(RequestError) -> RequestURL {
        let url = try resolving(reference).secured(like: self)
        try url.checkDowngrade(from: self)
        return url
    }

    /// Whether this URL is plain http on the host of an https base URL.
    package func isDowngrade(from base: BaseURL) -> Bool {
        !isSecure && base.url.isSecure && origin.host == base.origin.host
    }

    /// Refuses plain http beside https.
    ///
    /// - Throws: ``RequestError/URLReason/downgrade(from:)``.
    package func checkDowngrade(from other: RequestURL) throws(RequestError) {
        guard !isSecure, other.isSecure else { return }
        throw .url(text: text, reason: .downgrade(from: other.origin.description))
    }
}
