public import SwitchyardClient
public import SwitchyardHTTP

/// The source of a value: a server or the cache.
public enum ResponseSource: Sendable, Hashable {
    /// The server has just sent the value.
    case network
    /// The server has just revalidated the stored value with a 304 response.
    case revalidated
    /// The value is from the cache and fresh. The associated value is its age.
    case cache(age: Duration)
    /// The value is from the cache and past its lifetime. The associated value is its age.
    case staleCache(age: Duration)

    /// The time since the value was stored, or zero if the server has just sent or revalidated the value.
    package var age: Duration {
        switch self {
        case .network, .revalidated: .zero
        case .cache(let age), .staleCache(let age): age
        }
    }
}

/// A value together with the response from which it was decoded.
public struct APIResponse<Value: Sendable>: Sendable {
    /// The decoded value.
    public var value: Value
    /// The HTTP response that the value was decoded from.
    ///
    /// Its body is empty if the value is from the cache or if the server has revalidated the stored value.
    public var response: HTTPResponse
    /// The source of the value.
    public var source: ResponseSource
    /// The facts about the request, such as the server, the number of attempts and the elapsed time.
    ///
    /// The value is `nil` for a value from the cache.
    public var context: RequestContext? {
        get { sharedContext?.value }
        set { sharedContext = newValue.map { CopyOnWrite($0) } }
    }
    /// The context, stored by reference because a response is passed on many times and its context is rarely read.
    package var sharedContext: CopyOnWrite<RequestContext>?

    /// Creates a response from a value and its status, header fields and source.
    public init(
        value: Value,
        status: Int,
        headers: HTTPHeaders = HTTPHeaders(),
        source: ResponseSource = .network,
        context: RequestContext? = nil
    ) {
        self.init(
            value: value,
            response: HTTPResponse(status: status, headers: headers),
            source: source,
            sharedContext: context.map { CopyOnWrite($0) }
        )
    }

    /// Creates a response from the HTTP response that the value was decoded from.
    package init(
        value: Value,
        response: HTTPResponse,
        source: ResponseSource = .network,
        sharedContext: CopyOnWrite<RequestContext>? = nil
    ) {
        self.value = value
        self.response = response
        self.source = source
        self.sharedContext = sharedContext
    }

    /// The status of the response.
    public var status: Int {
        get { response.status }
        set { response.status = newValue }
    }
    /// The header fields of the response.
    public var headers: HTTPHeaders {
        get { response.headers }
        set { response.headers = newValue }
    }

    /// Whether the value comes from the cache, so that no request was sent.
    public var isFromCache: Bool {
        switch source {
        case .network, .revalidated: false
        case .cache, .staleCache: true
        }
    }

    /// Returns the same response with a transformed value.
    public func map<Other: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> APIResponse<Other> {
        APIResponse<Other>(
            value: try transform(value),
            response: response,
            source: source,
            sharedContext: sharedContext
        )
    }
}
