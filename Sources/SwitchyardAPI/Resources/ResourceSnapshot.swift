/// What a resource knows at one moment.
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
    /// The head of the answer that it came from; `nil` when the app put it in.
    public var answer: CachedAnswer?
    /// How old it is.
    public var age: Duration?
    /// Whether it is current; `false` without a value.
    public var isCurrent: Bool
    /// Why the latest load failed; `nil` after a success.
    public var error: APIError?
    /// Whether a load is under way.
    public var isLoading: Bool

    /// Creates a snapshot, for a view that shows it; unless more is said, that of a resource that was never loaded.
    public init(
        value: Value? = nil,
        origin: Origin? = nil,
        answer: CachedAnswer? = nil,
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
