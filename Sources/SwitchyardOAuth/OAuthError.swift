package import SwitchyardClient
public import SwitchyardHTTP

/// The reason why an access token could not be obtained from an OAuth 2 server.
public enum OAuthError: Error, Sendable, Hashable {
    /// The server returned an error code (RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5) and possibly a
    /// description.
    case refused(Code, description: String?)
    /// The callback URL does not belong to the login, because its state is different or missing.
    ///
    /// The callback may be an attack, so its authorization code is not redeemed.
    case stateMismatch
    /// The callback URL contains neither an authorization code nor an error.
    case missingCode
    /// The response does not conform to the OAuth standards. The associated value gives the reason.
    case malformedResponse(String)
    /// The user did not confirm the login of the device in time.
    case deviceExpired
    /// The credential has no refresh token.
    case noRefreshToken
    /// The settings contain no URL for an endpoint that the OAuth flow needs. The associated value is the name of
    /// the endpoint.
    case missingEndpoint(String)

    /// An error code from a server.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The error code as the server sends it.
        public let rawValue: String

        /// Creates an error code from the text that a server sends.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The error code as the server sends it.
        public var description: String { rawValue }

        /// The authorization code or the refresh token is invalid or expired, so a new login is needed.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client is unknown or could not be authenticated.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The user or the server denied access.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The user has not confirmed the login of the device yet.
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// The device requests the token endpoint too often.
        public static let slowDown = Code(rawValue: "slow_down")
        /// The device code has expired.
        public static let expiredToken = Code(rawValue: "expired_token")
    }
}

extension OAuthError: RefreshFailing {
    /// The refresh failure, if the error code reports a problem of the server, otherwise `nil`.
    ///
    /// These codes are defined for the authorization endpoint (RFC 6749 section 4.1.2.1), but servers also send them
    /// from the token endpoint.
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
    /// A description of the error that contains no access token, no refresh token and no authorization code.
    public var description: String { Redaction.standard.text(words) }

    private var words: String {
        switch self {
        case .refused(let code, let description):
            "the server refused the request: \(code)\(description.map { ", \($0)" } ?? "")"
        case .stateMismatch: "the callback URL does not belong to this login: its state is missing or different"
        case .missingCode: "the callback URL must contain a code or an error, but contains neither"
        case .malformedResponse(let what): "the server's response is not an OAuth response: \(what)"
        case .deviceExpired: "the user did not confirm the login of the device in time"
        case .noRefreshToken: "the credential has no refresh token, so a new login is required"
        case .missingEndpoint(let name): "the OAuth settings have no \(name), which this flow needs"
        }
    }
}

extension OAuthError: RedactedDescribable {}
