import SwitchyardClient
public import SwitchyardHTTP

/// Which statuses a call accepts.
public struct StatusPolicy: Sendable {
    let accepts: @Sendable (Int) -> Bool

    /// Creates a policy from a rule.
    public init(_ accepts: @escaping @Sendable (Int) -> Bool) {
        self.accepts = accepts
    }

    /// 200 to 299, the default.
    public static let success = StatusPolicy { (200...299).contains($0) }
    /// 200 to 399.
    public static let successOrRedirect = StatusPolicy { (200...399).contains($0) }
    /// Every status.
    public static let any = StatusPolicy { _ in true }

    /// The statuses of a range.
    public static func range(_ range: ClosedRange<Int>) -> StatusPolicy {
        StatusPolicy { range.contains($0) }
    }

    /// Some statuses.
    public static func only(_ statuses: Set<Int>) -> StatusPolicy {
        StatusPolicy { statuses.contains($0) }
    }
}

/// Which content types a call accepts.
///
/// A body that is empty has no content type to check.
public enum ContentTypePolicy: Sendable, Hashable {
    /// Those of the serialiser, and a missing header; the default.
    case strict
    /// Those of the serialiser, text of any kind, raw bytes, and a missing or unreadable header: for servers that send
    /// JSON as `text/html`. A page of a captive portal is then a body that cannot be decoded.
    case lenient
    /// These, and no missing header.
    case only([MediaType])
    /// Those that the request's `Accept` names, but for those of weight 0; every type when it names none.
    case requested
    /// Every type.
    case any
}

/// What becomes of an empty body where a value is expected.
///
/// Serialisers whose value may be empty (data, text, ``EmptyBody``, optional values) give that value.
public enum EmptyBodyPolicy: Sendable, Hashable {
    /// An empty body is an error unless the value may be empty; the default.
    case byValue
    /// An empty body is an error also where the value may be empty, except with HEAD and with these statuses.
    case onlyWith(statuses: Set<Int>)
    /// An empty body is always an error.
    case never
}
