import SwitchyardHTTP

/// The validator of a list at one URL, for conditional requests (RFC 9110 section 8.8).
struct ServerListValidator: Sendable, Hashable {
    /// The value of `ETag`.
    let entityTag: String?
    /// The value of `Last-Modified`.
    let modified: String?

    /// The maximum length of a value, so that a hostile server cannot fill the disk.
    private static let maximumLength = 1_024

    /// Creates the validator, or returns `nil` if neither value can be used.
    init?(_ entityTag: String?, _ modified: String?) {
        self.entityTag = entityTag.flatMap { $0.utf8.count <= Self.maximumLength ? $0 : nil }
        self.modified = modified.flatMap { $0.utf8.count <= Self.maximumLength ? $0 : nil }
        if self.entityTag == nil, self.modified == nil { return nil }
    }

    /// Creates the validator of a response, or returns `nil` if the response has none.
    init?(_ headers: HTTPHeaders) {
        self.init(headers.returnable("ETag"), headers.returnable("Last-Modified"))
    }
}
