public import SwitchyardClient
public import SwitchyardHTTP

/// The source of a value.
public enum ResponseSource: Sendable, Hashable {
    /// The server has just sent the value.
    case network
    /// The server confirmed that the stored value is still current.
    case revalidated
    /// The value is from the cache, has this age, and is fresh.
    case cache(age: Duration)
    /// The value is from the cache, has this age, and is past its lifetime.
    case staleCache(age: Duration)

    /// The time since the value was stored, or zero if the server has just sent or confirmed the value.
    var age: Duration {
        switch self {
        case .network, .revalidated: .zero
        case .cache(let age), .staleCache(let age): age
        }
    }
}

/// A value with the response that it came from.
public struct APIResponse<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// The status of the response.
    public var status: Int
    /// The header fields of the response.
    public var headers: HTTPHeaders
    /// The source of the value.
    public var source: ResponseSource
    /// The server, the number of attempts and the elapsed time; `nil` for a value from the cache.
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

    /// Returns the response with its value transformed.
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
