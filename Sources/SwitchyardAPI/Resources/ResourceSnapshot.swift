/// The state of a resource at one moment.
public struct ResourceSnapshot<Value: Sendable>: Sendable {
    /// Where a value comes from.
    public enum Origin: Sendable, Hashable {
        /// From a server or the cache.
        case answer(ResponseSource)
        /// From the app itself.
        case local
    }

    /// The latest value; `nil` before the first.
    public var value: Value?
    /// Where it comes from.
    public var origin: Origin?
    /// The head of the value's response; `nil` if the app set the value.
    public var answer: CachedResponse?
    /// The age of the value.
    public var age: Duration?
    /// Whether the value is current; `false` if there is none.
    public var isCurrent: Bool
    /// Why the latest load failed; `nil` after a success.
    public var error: APIError?
    /// Whether a load is under way.
    public var isLoading: Bool

    /// Creates a snapshot, for a preview of a view; the defaults are those of a resource that was never loaded.
    public init(
        value: Value? = nil,
        origin: Origin? = nil,
        answer: CachedResponse? = nil,
        age: Duration? = nil,
        isCurrent: Bool = false,
        error: APIError? = nil,
        isLoading: Bool = false
    ) {
        self.value = value
        self.origin = origin
        self.answer = answer
        self.age = age
        self.isCurrent = isCurrent
        self.error = error
        self.isLoading = isLoading
    }
}
