import Foundation

/// The key by which a server recognizes a repeated write request (draft-ietf-httpapi-idempotency-key-header).
///
/// With a key, a write request may be sent again after any failure, because the server repeats its first response.
public enum IdempotencyKey: Sendable, Hashable {
    /// No key.
    case none
    /// A random key, the same for every attempt of a call.
    case automatic
    /// A key from the caller. Use it, for example, for a write request that the app stores together with its key and
    /// sends again after a relaunch.
    case given(String)

    static func random() -> IdempotencyKey {
        .given(UUID().uuidString)
    }

    /// The key to send, or `nil` if there is none.
    ///
    /// For `automatic`, each access returns a new key.
    package var value: String? {
        switch self {
        case .none: nil
        case .automatic: UUID().uuidString
        case .given(let key): key
        }
    }
}
