/// An HTTP method: a registered one, or any other token (RFC 9110 section 9).
public struct HTTPMethod: Sendable, Hashable, CustomStringConvertible {
    /// The method as it is sent; methods are case-sensitive.
    public let name: String

    /// GET returns a representation.
    ///
    /// Safe and idempotent.
    public static let get = HTTPMethod(unchecked: "GET")
    /// HEAD returns only the header fields of GET's response.
    ///
    /// Safe and idempotent.
    public static let head = HTTPMethod(unchecked: "HEAD")
    /// POST processes the content of the request.
    ///
    /// Neither safe nor idempotent.
    public static let post = HTTPMethod(unchecked: "POST")
    /// PUT replaces the resource.
    ///
    /// Idempotent.
    public static let put = HTTPMethod(unchecked: "PUT")
    /// PATCH changes the resource in part (RFC 5789).
    ///
    /// Neither safe nor idempotent.
    public static let patch = HTTPMethod(unchecked: "PATCH")
    /// DELETE removes the resource.
    ///
    /// Idempotent.
    public static let delete = HTTPMethod(unchecked: "DELETE")
    /// OPTIONS returns the supported communication options.
    ///
    /// Safe and idempotent.
    public static let options = HTTPMethod(unchecked: "OPTIONS")
    /// TRACE returns the request as the server received it.
    ///
    /// Safe and idempotent.
    public static let trace = HTTPMethod(unchecked: "TRACE")

    /// Creates a method from its name.
    ///
    /// Returns `nil` if `name` is empty or contains spaces, control characters, separators or non-ASCII characters, so
    /// that it is not a token (RFC 9110 section 5.6.2).
    public init?(_ name: String) {
        guard HTTPToken.isValid(name) else { return nil }
        self.name = name
    }

    private init(unchecked name: String) {
        self.name = name
    }

    /// Whether the method only reads (RFC 9110 section 9.2.1).
    @inlinable public var isSafe: Bool {
        switch name {
        case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
        default: false
        }
    }

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110 section 9.2.2).
    @inlinable public var isIdempotent: Bool {
        isSafe || name == "PUT" || name == "DELETE"
    }

    /// The method as it is sent.
    public var description: String { name }
}
