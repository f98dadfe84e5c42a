public import SwitchyardAPI
public import SwitchyardHTTP

/// The state of a resource at one moment.
public struct ResourceSnapshot<Value: Sendable>: Sendable {
    /// The origin of a value.
    public enum Origin: Sendable, Hashable {
        /// The value comes from a server or from the cache.
        case answer(ResponseSource)
        /// The app set the value itself.
        case local
    }

    /// The latest value, or `nil` if there is none yet.
    public var value: Value?
    /// The origin of the value, or `nil` if there is no value.
    public var origin: Origin?
    /// The value's response without its body, or `nil` if the app set the value.
    public var response: HTTPResponse?
    /// The age of the value.
    public var age: Duration?
    /// Whether the value is current.
    ///
    /// The property is `false` if there is no value.
    public var isCurrent: Bool
    /// The error of the latest load, or `nil` if the load succeeded.
    public var error: APIError?
    /// Whether a load is in flight.
    public var isLoading: Bool

    /// Creates a snapshot for the preview of a view.
    ///
    /// The default values are those of a resource that was never loaded.
    public init(
        value: Value? = nil,
        origin: Origin? = nil,
        response: HTTPResponse? = nil,
        age: Duration? = nil,
        isCurrent: Bool = false,
        error: APIError? = nil,
        isLoading: Bool = false
    ) {
        self.value = value
        self.origin = origin
        self.response = response
        self.age = age
        self.isCurrent = isCurrent
        self.error = error
        self.isLoading = isLoading
    }
}
