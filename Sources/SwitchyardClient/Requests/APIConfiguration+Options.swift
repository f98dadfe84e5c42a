import Foundation
public import SwitchyardHTTP

/// A place for a value of your own in an ``APIConfiguration``.
public protocol ConfigurationKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value where none was set.
    static var defaultValue: Value { get }
}

/// A place for a setting whose type stands on a floor above: it names configurations itself.
///
/// It is no value of the app's own, and so not among those of ``ConfigurationKey``.
protocol ConfigurationSetting {
    /// The type of the setting.
    associatedtype Value: Sendable
    /// What holds where nothing was set.
    static var defaultValue: Value { get }
}

/// Which server answers a request.
public enum ServerChoice: Sendable, Hashable {
    /// The server that the service's switching has chosen.
    case automatic
    /// The server of that name in the service; it is not switched away from.
    case named(String)
    /// A base URL outside the service's list; it takes no part in switching.
    case baseURL(RequestURL)
}

/// Where the parameters of a request go that are not said to be query or body.
public enum ParameterDestination: Sendable, Hashable {
    /// Into the query for GET, HEAD and DELETE (the set is the generator's), into a form body for other methods.
    case automatic
    /// Into the query.
    case query
    /// Into a form body; beside a form or multipart body, into that.
    case body
}

/// How urgent a request is among others that wait.
public enum RequestPriority: Int, Sendable, Hashable, Comparable {
    /// After the others: prefetching.
    case low
    /// The default.
    case normal
    /// Before the others: what the user waits for.
    case high

    /// Whether `left` is less urgent than `right`.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The key by which a server recognises a write that it has seen already (draft-ietf-httpapi-idempotency-key-header).
///
/// With a key, a POST or PATCH may be sent again after a failure: the server answers what it answered the first time.
public enum IdempotencyKey: Sendable, Hashable {
    /// No key.
    case none
    /// A random key, the same for every attempt of a call.
    case automatic
    /// A key of the caller's, for instance one that was stored with the write and outlives the app.
    case given(String)

    /// A new key.
    static func random() -> IdempotencyKey {
        .given(UUID().uuidString)
    }

    /// The key to send; a new one each time while it is automatic.
    package var value: String? {
        switch self {
        case .none: nil
        case .automatic: UUID().uuidString
        case .given(let key): key
        }
    }
}
