import SwitchyardHTTP

/// A stored answer that a server is asked to confirm, by conditions that a cache has added to a request.
package struct StoredConfirmation: Sendable, Hashable {
    /// The fields that such a condition stands in.
    private static let names = ["If-None-Match", "If-Modified-Since"]

    /// The URL that redirects led to when the answer came; `nil` without any.
    package var redirectedTo: String?

    package init(redirectedTo: String?) {
        self.redirectedTo = redirectedTo
    }

    /// Lets a request after a redirect ask for confirmation where the stored answer came from, and nowhere else.
    ///
    /// Validators say nothing of any other URL: a content that another was last changed after is not the same one (RFC
    /// 9110 section 15.4).
    func complete(_ request: inout HTTPRequest, afterRedirectOf configuration: APIConfiguration) {
        let isThere = request.url.normalForm == redirectedTo.flatMap { RequestURL($0)?.normalForm }
        for name in Self.names { request.headers[name] = isThere ? configuration.headers[name] : nil }
    }
}
