public import Foundation
public import SwitchyardHTTP

/// What shows a service who is asking.
///
/// Its description hides the secret, so that it may come into a log.
public struct Credential: Sendable, Hashable {
    /// How it is shown.
    public enum Scheme: Sendable, Hashable {
        /// `Authorization: Bearer …` (RFC 6750).
        case bearer(token: String)
        /// `Authorization: Basic …`, in UTF-8 (RFC 7617); a request with a colon in the name of the user is refused.
        case basic(user: String, password: String)
        /// `Authorization: Digest …`, as the answer to a challenge (RFC 7616).
        case digest(user: String, password: String)
        /// A header field of any name.
        case header(name: String, value: String)
    }

    /// How it is shown, with the secret.
    public var scheme: Scheme
    /// When it stops being valid; never, as far as is known, when `nil`.
    public var expiresAt: Date?
    /// With what it is renewed; `nil` when there is no such thing.
    public var refreshToken: String?

    /// Creates a credential.
    public init(_ scheme: Scheme, expiresAt: Date? = nil, refreshToken: String? = nil) {
        self.scheme = scheme
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
    }

    /// A token (RFC 6750).
    public static func bearer(_ token: String, expiresAt: Date? = nil, refreshToken: String? = nil) -> Credential {
        Credential(.bearer(token: token), expiresAt: expiresAt, refreshToken: refreshToken)
    }

    /// A name and a password, sent with every request (RFC 7617): over https only.
    ///
    /// A name with a colon cannot be told from the password behind it: a request with one fails unsent, with
    /// ``/SwitchyardHTTP/RequestError/HeaderReason/colonInUserName``.
    public static func basic(user: String, password: String) -> Credential {
        Credential(.basic(user: user, password: password))
    }

    /// A name and a password of which only digests are sent (RFC 7616).
    public static func digest(user: String, password: String) -> Credential {
        Credential(.digest(user: user, password: password))
    }

    /// A header field such as `X-API-Key`.
    public static func header(_ name: String, _ value: String, expiresAt: Date? = nil) -> Credential {
        Credential(.header(name: name, value: value), expiresAt: expiresAt)
    }

    /// Whether it has expired at a time, or will have within the leeway.
    public func isExpired(at date: Date, leeway: Duration = .zero) -> Bool {
        guard let expiresAt else { return false }
        let (seconds, attoseconds) = leeway.components
        return expiresAt.timeIntervalSince(date) <= Double(seconds) + Double(attoseconds) / 1e18
    }

    /// The header field that carries it; `nil` for one that answers challenges.
    var field: HTTPHeaders.Field? {
        switch scheme {
        case .bearer(let token): .bearer(token)
        case .basic(let user, let password): .basic(user: user, password: password)
        case .header(let name, let value): HTTPHeaders.Field(name: name, value: value)
        case .digest: nil
        }
    }

    /// Whether a header field can hold it; a token that a server has given may be one that none can.
    ///
    /// A name and a password always pass: they are the app's, and their request says what is wrong with them.
    package var canBeSent: Bool {
        switch scheme {
        case .bearer(let token): token.isFieldValue
        case .header(let name, let value): HTTPHeaders.Field(name: name, value: value).isValid
        case .basic, .digest: true
        }
    }
}

extension Credential: Discreet {
    /// The scheme and, where there is one, the name of the user.
    public var description: String { scheme.description }
}

extension Credential.Scheme: Discreet {
    /// The scheme and, where there is one, the name of the user, without the secret.
    public var description: String {
        switch self {
        case .bearer: "bearer ***"
        case .basic(let user, _): "basic \(user):***"
        case .digest(let user, _): "digest \(user):***"
        case .header(let name, _): "\(name): ***"
        }
    }

    /// What tells the user of this scheme from others, without a password that could be guessed.
    var identity: String {
        switch self {
        case .basic(let user, _), .digest(let user, _): ["user", user].map(\.framed).joined()
        case .bearer, .header: fingerprint
        }
    }

    /// What tells this scheme with its secret from every other, the same in every run; the secret cannot be read from it.
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

/// Puts credentials into a request when it is built.
struct RequestAuthorization: Sendable {
    /// The header fields that it sets; taken out when a redirect leads away.
    var names: [String]
    /// Whether they follow from the request as it is sent, and so are set behind all other changes to it.
    var answersWhole = false
    /// Sets them.
    var apply: @Sendable (inout HTTPRequest) throws -> Void

    /// Takes the credentials out again.
    func remove(from request: inout HTTPRequest) {
        for name in names { request.headers.remove(name) }
    }
}
