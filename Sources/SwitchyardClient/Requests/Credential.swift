public import Foundation
public import SwitchyardHTTP

/// A credential that proves to a service which user or app sends a request.
///
/// The description hides the secret, so that a credential is safe to log.
public struct Credential: Sendable, Hashable {
    /// The way in which the credential is sent.
    public enum Scheme: Sendable, Hashable {
        /// `Authorization: Bearer …` (RFC 6750).
        case bearer(token: String)
        /// `Authorization: Basic …`, in UTF-8 (RFC 7617).
        ///
        /// A request with a colon in the user name fails before it is sent.
        case basic(user: String, password: String)
        /// `Authorization: Digest …`, in reply to a challenge (RFC 7616).
        case digest(user: String, password: String)
        /// A header field of any name.
        case header(name: String, value: String)
    }

    /// The scheme of the credential, with its secret.
    public var scheme: Scheme
    /// The date at which the credential expires, or `nil` if it does not expire or the date is unknown.
    public var expiresAt: Date?
    /// The OAuth refresh token with which the credential can be refreshed, or `nil` if there is none.
    public var refreshToken: String?

    /// Creates a credential.
    public init(_ scheme: Scheme, expiresAt: Date? = nil, refreshToken: String? = nil) {
        self.scheme = scheme
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
    }

    /// Creates a credential from a bearer token (RFC 6750), which is usually an OAuth access token.
    public static func bearer(_ token: String, expiresAt: Date? = nil, refreshToken: String? = nil) -> Credential {
        Credential(.bearer(token: token), expiresAt: expiresAt, refreshToken: refreshToken)
    }

    /// Creates a credential whose user name and password are sent with every request (RFC 7617), for https only.
    ///
    /// The user name must not contain a colon, because the server takes the text after the first colon as the password.
    /// A request with such a name fails unsent with ``/SwitchyardHTTP/RequestError/HeaderReason/colonInUserName``.
    public static func basic(user: String, password: String) -> Credential {
        Credential(.basic(user: user, password: password))
    }

    /// Creates a credential for digest authentication, which sends digests instead of the password (RFC 7616).
    public static func digest(user: String, password: String) -> Credential {
        Credential(.digest(user: user, password: password))
    }

    /// Creates a credential that is sent in a header field such as `X-API-Key`.
    public static func header(_ name: String, _ value: String, expiresAt: Date? = nil) -> Credential {
        Credential(.header(name: name, value: value), expiresAt: expiresAt)
    }

    /// Returns whether the credential has expired at a date, or will expire within the leeway after it.
    package func isExpired(at date: Date, leeway: Duration = .zero) -> Bool {
        guard let expiresAt else { return false }
        let (seconds, attoseconds) = leeway.components
        return expiresAt.timeIntervalSince(date) <= Double(seconds) + Double(attoseconds) / 1e18
    }

    /// The header field that carries the credential, or `nil` for a credential that replies to challenges.
    var field: HTTPHeaders.Field? {
        switch scheme {
        case .bearer(let token): .bearer(token)
        case .basic(let user, let password): .basic(user: user, password: password)
        case .header(let name, let value): HTTPHeaders.Field(name: name, value: value)
        case .digest: nil
        }
    }

    /// Whether a header field can carry the credential.
    ///
    /// A token from a server may contain characters that are not allowed.
    ///
    /// The value is always `true` for a user name and a password, because they come from the app. If one of them is
    /// invalid, the request fails with the reason.
    package var canBeSent: Bool {
        switch scheme {
        case .bearer(let token): token.isFieldValue
        case .header(let name, let value): HTTPHeaders.Field(name: name, value: value).isValid
        case .basic, .digest: true
        }
    }
}

extension Credential: RedactedDescribable {
    /// The scheme and, if there is one, the user name.
    public var description: String { scheme.description }
}

extension Credential.Scheme: RedactedDescribable {
    /// The scheme and, if there is one, the user name, without the secret.
    public var description: String {
        switch self {
        case .bearer: "bearer ***"
        case .basic(let user, _): "basic \(user):***"
        case .digest(let user, _): "digest \(user):***"
        case .header(let name, _): "\(name): ***"
        }
    }

    /// The text that distinguishes the user of this credential from other users.
    ///
    /// The text does not contain the password.
    var identity: String {
        switch self {
        case .basic(let user, _), .digest(let user, _): ["user", user].map(\.framed).joined()
        case .bearer, .header: fingerprint
        }
    }

    /// A digest of the scheme and its secret.
    ///
    /// The digest is the same in every run, and the secret cannot be read from it.
    package var fingerprint: String {
        let parts =
            switch self {
            case .bearer(let token): ["bearer", token]
            case .basic(let user, let password): ["basic", user, password]
            case .digest(let user, let password): ["digest", user, password]
            case .header(let name, let value): ["header", name, value]
            }
        return MessageDigest.sha256(parts.map(\.framed).joined().utf8).hexText
    }
}

/// A closure that adds credentials to a request when it is built.
struct RequestAuthorization: Sendable {
    /// The names of the header fields that the closure sets.
    ///
    /// These fields are removed if a redirect leads to another origin.
    var names: [String]
    /// Whether the closure must run after all other changes to the request, because the fields that it sets depend on
    /// the finished request.
    var answersWhole = false
    /// Sets the header fields in `names` on the request.
    var apply: @Sendable (inout HTTPRequest) throws -> Void

    /// Removes the header fields in `names` from the request.
    func remove(from request: inout HTTPRequest) {
        for name in names { request.headers.remove(name) }
    }
}
