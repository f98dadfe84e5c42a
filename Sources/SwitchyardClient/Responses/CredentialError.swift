public import SwitchyardServices

/// The reason why a request has no usable credential.
public enum CredentialError: Error, Sendable, Hashable {
    /// There is no credential, and no credential can be obtained, so the request was not sent.
    ///
    /// For a call that needs no credential, set ``APIConfiguration/allowsAnonymous``. To allow all calls without a
    /// credential, use ``Credentials/Policy/allowsAnonymous``.
    case missing
    /// The request's environment has no credential, but these environments have a credential.
    case setElsewhere([ServiceEnvironment])
    /// The credentials were refreshed too often in a short time.
    case tooManyRefreshes(limit: Int)
    /// The refresh took too long.
    case refreshTimedOut
    /// The refresh failed for a transient reason.
    ///
    /// The server was not reached, its response says nothing about the credential (such as a 503 or the page of a
    /// captive portal), or a limit of the client prevented the refresh.
    case unavailable(TokenRefreshFailure)
    /// The refresh failed for a reason that is not known to be transient. The associated value contains the underlying
    /// error.
    case refreshFailed(InterceptorError)
    /// The service requires a new login.
    ///
    /// A provider throws this error to report that another attempt is useless. The credentials are then unusable until
    /// the app sets new credentials.
    case loginRequired
    /// The user logged out before the request ended.
    case loggedOut
    /// The service requires unsupported schemes, such as NTLM, Kerberos, or an unknown digest algorithm.
    case unsupportedScheme([String])
}

extension CredentialError: CustomStringConvertible {
    /// The error in words, without any secret.
    public var description: String {
        switch self {
        case .missing: "no credentials"
        case .setElsewhere(let others):
            "no credentials in this environment; credentials are set in \(others.map(\.rawValue).joined(separator: ", "))"
        case .tooManyRefreshes(let limit): "credentials were refreshed more than \(limit) times in a short time"
        case .refreshTimedOut: "credentials could not be refreshed in time"
        case .unavailable(let outage): "the credentials could not be refreshed for a transient reason: \(outage)"
        case .refreshFailed(let veto): "credentials could not be refreshed: \(veto)"
        case .loginRequired: "a new login is required"
        case .loggedOut: "the user logged out before the request ended"
        case .unsupportedScheme(let schemes):
            "the service requires an unsupported authentication scheme: \(schemes.joined(separator: ", "))"
        }
    }
}

extension CredentialError {
    /// Advice for a developer who did not expect the error, or an empty text if there is none.
    package var advice: String {
        switch self {
        case .setElsewhere: "set credentials for this environment too, or make the call in one of those environments"
        case .missing, .loginRequired, .loggedOut:
            "log in, or send calls that need no credential without one (allowsAnonymous, usesCredentials)"
        default: ""
        }
    }
}
