/// The value of an answer whose body does not matter.
public struct EmptyBody: Sendable, Hashable, Codable {
    /// Creates the value.
    public init() {}

    /// Accepts whatever is there.
    public init(from decoder: any Decoder) {}
}

/// A type that has a value for a body that is empty.
public protocol PossiblyEmpty {
    /// The value of an empty body.
    static var emptyValue: Self { get }
}

extension EmptyBody: PossiblyEmpty {
    /// The one value there is.
    public static var emptyValue: EmptyBody { EmptyBody() }
}

extension Optional: PossiblyEmpty {
    /// `nil`.
    public static var emptyValue: Wrapped? { nil }
}

extension Decodable {
    /// The value of this type for an empty body; `nil` when it has none.
    package static var valueOfEmptyBody: Self? {
        (self as? any PossiblyEmpty.Type)?.emptyValue as? Self
    }
}

extension Optional {
    /// The value for an empty body, if there is one.
    func orThrowEmpty() throws(APIError) -> Wrapped {
        guard let self else { throw APIError(.body(.empty)) }
        return self
    }
}
