package import SwitchyardClient
public import SwitchyardHTTP

/// Why an OAuth 2 server gave no token.
public enum OAuthError: Error, Sendable, Hashable {
    /// The server says why (RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5); the text is its description.
    case refused(Code, description: String?)
    /// The answer to the authorisation does not belong to the question: another state, or none.
    ///
    /// It may be an attack; its code is not redeemed.
    case stateMismatch
    /// The URL that came back holds neither a code nor an error.
    case missingCode
    /// The answer is not what the standards say; the text says what is wrong with it.
    case malformedAnswer(String)
    /// The device was not confirmed in time.
    case deviceExpired
    /// There is nothing to renew a token with.
    case noRefreshToken
    /// An endpoint that the flow needs is not configured.
    case missingEndpoint(String)

    /// The reasons that servers give.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The code as the server sends it.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code as the server sends it.
        public var description: String { rawValue }

        /// The code or the refresh token is no longer good, or never was: a new login is needed.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client is unknown or could not prove who it is.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The user, or the server, said no.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The user has not confirmed the device yet.
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// The device asks too often.
        public static let slowDown = Code(rawValue: "slow_down")
        /// The code of the device has expired.
        public static let expiredToken = Code(rawValue: "expired_token")
    }
}

extension OAuthError: RenewalFailing {
    /// The outage that the server speaks of itself (RFC 6749 section 4.1.2.1, which servers use for tokens as well).
    package var renewalOutage: RenewalOutage? {
        guard case .refused(let code, _) = self else { return nil }
        return switch code.rawValue {
        case "server_error": RenewalOutage(.status(500))
        case "temporarily_unavailable": RenewalOutage(.status(503))
        default: nil
        }
    }

    package var isUnreadable: Bool { if case .malformedAnswer = self { true } else { false } }
}

extension OAuthError: CustomStringConvertible {
    /// What the server said, or what is wrong with what it sent; holds no token and no code.
    public var description: String { Redaction.standard.text(words) }

    private var words: String {
        switch self {
        case .refused(let code, let description): "the server refuses: \(code)\(description.map { ", \($0)" } ?? "")"
        case .stateMismatch: "the answer belongs to another login"
        case .missingCode: "the answer holds neither a code nor an error"
        case .malformedAnswer(let what): "the server's answer is not one of OAuth: \(what)"
        case .deviceExpired: "the device was not confirmed in time"
        case .noRefreshToken: "there is no refresh token"
        case .missingEndpoint(let name): "the settings name no \(name)"
        }
    }
}

extension OAuthError: Discreet {}
