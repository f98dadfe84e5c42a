/// What a service means by status 429 (Too Many Requests, RFC 6585 section 4).
public enum TooManyRequests: String, Sendable, Hashable, CaseIterable {
    /// The caller has used up a quota, which no other server would grant: an answer like any other.
    ///
    /// It is no evidence against the server, and the request does not go to another one: that would use up the quota
    /// there too. The default.
    case quota
    /// The server that answers has too much to do, as with 503; another one may have room.
    case overload
}
