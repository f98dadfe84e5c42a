public import SwitchyardClient

/// The head of an answer that was stored.
public struct CachedAnswer: Sendable, Hashable {
    /// The status.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders

    /// Creates the head of an answer.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.headers = headers
    }
}

/// A value from a cache, with what is known of it.
public struct CachedValue<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// How long ago it was stored.
    public var age: Duration
    /// Whether its lifetime has not passed yet.
    public var isFresh: Bool
    /// The tags it was stored with.
    public var tags: Set<String>
    /// The answer that it came from; `nil` when it was stored by hand.
    public var answer: CachedAnswer?
    /// Its cost in bytes.
    public var cost: Int
    /// The answer with its times, when HTTP's own rules decide on it.
    var http: HTTPStoredAnswer?
}
