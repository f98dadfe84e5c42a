public import SwitchyardClient
public import SwitchyardHTTP

/// Where a value comes from.
public enum ResponseSource: Sendable, Hashable {
    /// From the server, just now.
    case network
    /// From the server's word that the stored value is still the right one.
    case revalidated
    /// From the cache, stored so long ago and fresh.
    case cache(age: Duration)
    /// From the cache, stored so long ago and past its lifetime.
    case staleCache(age: Duration)

    /// How long ago the value was stored; zero for one that the server has just sent or confirmed.
    var age: Duration {
        switch self {
        case .network, .revalidated: .zero
        case .cache(let age), .staleCache(let age): age
        }
    }
}

/// A value with the answer that it came from.
public struct APIResponse<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// The status of the answer.
    public var status: Int
    /// The header fields of the answer.
    public var headers: HTTPHeaders
    /// Where the value comes from.
    public var source: ResponseSource
    /// Who answered, after how many attempts and how long; `nil` for a value from the cache.
    public var context: RequestContext?

    /// Creates a response.
    public init(
        value: Value,
        status: Int,
        headers: HTTPHeaders = HTTPHeaders(),
        source: ResponseSource = .network,
        context: RequestContext? = nil
    ) {
        self.value = value
        self.status = status
        self.headers = headers
        self.source = source
        self.context = context
    }

    /// Whether no server was asked for the value.
    public var isFromCache: Bool {
        switch source {
        case .network, .revalidated: false
        case .cache, .staleCache: true
        }
    }

    /// The response with another value made of this one.
    public func map<Other: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> APIResponse<Other> {
        APIResponse<Other>(
            value: try transform(value),
            status: status,
            headers: headers,
            source: source,
            context: context
        )
    }
}
