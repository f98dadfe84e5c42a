/// An HTTP method: one of the registered ones, or any token (RFC 9110 section 9).
public struct HTTPMethod: Sendable, Hashable, CustomStringConvertible {
    /// The method as it is sent.
    ///
    /// Methods are case-sensitive.
    public let name: String

    /// GET: read.
    ///
    /// Safe and idempotent.
    public static let get = HTTPMethod(unchecked: "GET")
    /// HEAD: read the head only.
    ///
    /// Safe and idempotent.
    public static let head = HTTPMethod(unchecked: "HEAD")
    /// POST: process.
    ///
    /// Neither safe nor idempotent.
    public static let post = HTTPMethod(unchecked: "POST")
    /// PUT: replace.
    ///
    /// Idempotent.
    public static let put = HTTPMethod(unchecked: "PUT")
    /// PATCH: change in part (RFC 5789).
    ///
    /// Neither safe nor idempotent.
    public static let patch = HTTPMethod(unchecked: "PATCH")
    /// DELETE: remove.
    ///
    /// Idempotent.
    public static let delete = HTTPMethod(unchecked: "DELETE")
    /// OPTIONS: ask what is possible.
    ///
    /// Safe and idempotent.
    public static let options = HTTPMethod(unchecked: "OPTIONS")
    /// TRACE: loop back.
    ///
    /// Safe and idempotent.
    public static let trace = HTTPMethod(unchecked: "TRACE")

    /// Creates a method from any token.
    ///
    /// `nil` when `name` is not a token (RFC 9110 section 5.6.2): empty, or with spaces, control characters, separators
    /// or non-ASCII characters.
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

    /// Whether sending the request twice has the effect of sending it once (RFC 9110 section 9.2.2).
    @inlinable public var isIdempotent: Bool {
        isSafe || name == "PUT" || name == "DELETE"
    }

    /// The method as it is sent.
    public var description: String { name }
}
