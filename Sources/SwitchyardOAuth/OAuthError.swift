package import SwitchyardClient
public import SwitchyardHTTP

/// The reason why there is no token from an OAuth 2 server.
public enum OAuthError: Error, Sendable, Hashable {
    /// The server returned an error code (RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5) and possibly a
    /// description.
    case refused(Code, description: String?)
    /// The callback URL does not belong to the login, because its state is different or missing.
    ///
    /// It may be an attack, so the code is not redeemed.
    case stateMismatch
    /// The callback URL contains neither a code nor an error.
    case missingCode
    /// The response does not conform to the standards, for the reason in the text.
    case malformedResponse(String)
    /// The user did not confirm the device in time.
    case deviceExpired
    /// There is no refresh token.
    case noRefreshToken
    /// An endpoint that the flow needs is missing in the settings.
    case missingEndpoint(String)

    /// An error code from a server.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The code as the server sends it.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code as the server sends it.
        public var description: String { rawValue }

        /// The authorisation code or the refresh token is invalid or expired, so a new login is needed.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client is unknown or could not be authenticated.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The user or the server denied access.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The user has not confirmed the device yet.
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// The device polls too often.
        public static let slowDown = Code(rawValue: "slow_down")
        /// The code of the device has expired.
        public static let expiredToken = Code(rawValue: "expired_token")
    }
}

extension OAuthError: RefreshFailing {
    /// The refresh failure for an error code that reports a server problem (RFC 6749 section 4.1.2.1, which servers
    /// also use for tokens).
    package var refreshFailure: TokenRefreshFailure? {
        guard case .refused(let code, _) = self else { return nil }
        return switch code.rawValue {
        case "server_error": TokenRefreshFailure(.status(500))
        case "temporarily_unavailable": TokenRefreshFailure(.status(503))
        default: nil
        }
    }

    package var isUnreadable: Bool { if case .malformedResponse = self { true } else { false } }
}

extension OAuthError: CustomStringConvertible {
    /// The error as text, without any token or code.
    public var description: String { Redaction.standard.text(words) }

    private var words: String {
        switch self {
        case .refused(let code, let description): "the server refuses: \(code)\(description.map { ", \($0)" } ?? "")"
        case .stateMismatch: "the response belongs to another login"
        case .missingCode: "the response contains neither a code nor an error"
        case .malformedResponse(let what): "the server's response is not an OAuth response: \(what)"
        case .deviceExpired: "the device was not confirmed in time"
        case .noRefreshToken: "there is no refresh token"
        case .missingEndpoint(let name): "the settings name no \(name)"
        }
    }
}

extension OAuthError: RedactedDescribable {}
