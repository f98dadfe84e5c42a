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

extension ResponseRules {
    /// The content types that a call accepts.
    ///
    /// The content type of an empty body is not checked.
    public enum ContentTypeRule: Sendable, Hashable {
        /// The call accepts the serializer's content types and a response without a content type. This is the default.
        case strict
        /// The call accepts the serializer's content types, any kind of text, raw bytes, and a missing or unreadable
        /// content type.
        ///
        /// Use it for servers that send JSON as `text/html`. With this rule, the page of a captive portal is accepted
        /// and fails to decode.
        case lenient
        /// The call accepts only these content types, and rejects a response without a content type.
        case only([MediaType])
        /// The call accepts the content types in the request's `Accept` field, except types with weight 0. If the
        /// request has no `Accept` field, it accepts every type.
        case requested
        /// The call accepts every content type.
        case any
    }
}

extension ResponseRules {
    /// The handling of an empty body where a value is expected.
    ///
    /// If a serializer's value may be empty (data, text, ``EmptyBody``, optional values), an accepted empty body yields
    /// that empty value.
    public enum EmptyBodyRule: Sendable, Hashable {
        /// An empty body is an error unless the value may be empty. This is the default.
        case byValue
        /// An empty body is an error even if the value may be empty, except in responses to HEAD and with these
        /// statuses.
        case onlyWith(statuses: Set<Int>)
        /// An empty body is always an error.
        case never
    }
}
