import SwitchyardClient
public import SwitchyardHTTP

/// The HTTP statuses that a call accepts.
public struct StatusPolicy: Sendable {
    let accepts: @Sendable (Int) -> Bool

    /// Creates a policy from a closure that returns whether a status is accepted.
    public init(_ accepts: @escaping @Sendable (Int) -> Bool) {
        self.accepts = accepts
    }

    /// A policy that accepts the statuses 200 to 299.
    ///
    /// This is the default.
    public static let success = StatusPolicy { (200...299).contains($0) }
    /// A policy that accepts the statuses 200 to 399.
    public static let successOrRedirect = StatusPolicy { (200...399).contains($0) }
    /// A policy that accepts every status.
    public static let any = StatusPolicy { _ in true }

    /// Returns a policy that accepts the statuses in a range.
    public static func range(_ range: ClosedRange<Int>) -> StatusPolicy {
        StatusPolicy { range.contains($0) }
    }

    /// Returns a policy that accepts only the given statuses.
    public static func only(_ statuses: Set<Int>) -> StatusPolicy {
        StatusPolicy { statuses.contains($0) }
    }
}

/// The content types that a call accepts.
///
/// The content type of an empty body is not checked.
public enum ContentTypePolicy: Sendable, Hashable {
    /// The content types of the serializer are accepted, and so is a response without `Content-Type`. This is the
    /// default.
    case strict
    /// The content types of the serializer, any text, raw bytes, and a missing or unreadable `Content-Type` are
    /// accepted.
    ///
    /// Use it for servers that send JSON as `text/html`. The page of a captive portal is then a body that cannot be
    /// decoded.
    case lenient
    /// Only these content types are accepted. A response without `Content-Type` is rejected.
    case only([MediaType])
    /// The types in the request's `Accept` are accepted, except those with the weight 0. If there are none, every type
    /// is accepted.
    case requested
    /// Every content type is accepted.
    case any
}

/// The handling of an empty body where a value is expected.
///
/// If the value of a serializer may be empty (data, text, ``EmptyBody``, optional values), an accepted empty body leads
/// to that empty value.
public enum EmptyBodyPolicy: Sendable, Hashable {
    /// An empty body is an error unless the value may be empty. This is the default.
    case byValue
    /// An empty body is an error even if the value may be empty, except for HEAD requests and with these statuses.
    case onlyWith(statuses: Set<Int>)
    /// An empty body is always an error.
    case never
}
