public import SwitchyardServices

/// Why a request has no credentials to go with.
public enum CredentialError: Error, Sendable, Hashable {
    /// There are none, and none can be had; nothing was sent.
    ///
    /// A call that needs none says so: by ``APIConfiguration/allowsAnonymous``, or by ``Credentials/Policy/allowsAnonymous``
    /// for all.
    case missing
    /// The request's environment has no credential, but these environments have one.
    case setElsewhere([ServiceEnvironment])
    /// They were renewed too often in a short time, which no service wants.
    case excessiveRenewal(limit: Int)
    /// Renewing them took too long.
    case renewalTimedOut
    /// The server that renews them was not reached, or gave no answer that says anything: it may later.
    case unavailable(RenewalOutage)
    /// Renewing them failed, and not for a reason that is known to pass; the text is the error's.
    case renewalFailed(Veto)
    /// The service says that the user has to log in anew.
    ///
    /// A provider throws it to say that trying again is no use; the credentials stay unusable until others are set.
    case loginRequired
    /// The user logged out while the request was waiting.
    case loggedOut
    /// The service asks for schemes that are not known here: NTLM, Kerberos, an unknown digest algorithm.
    case unsupportedScheme([String])
}

extension CredentialError: CustomStringConvertible {
    /// What is wrong, without any secret.
    public var description: String {
        switch self {
        case .missing: "no credentials"
        case .setElsewhere(let others):
            "no credentials in this environment; credentials are set in \(others.map(\.rawValue).joined(separator: ", "))"
        case .excessiveRenewal(let limit): "credentials were renewed more than \(limit) times in a short time"
        case .renewalTimedOut: "credentials could not be renewed in time"
        case .unavailable(let outage): "credentials could not be renewed now: \(outage)"
        case .renewalFailed(let veto): "credentials could not be renewed: \(veto)"
        case .loginRequired: "a new login is needed"
        case .loggedOut: "logged out"
        case .unsupportedScheme(let schemes): "the service asks for \(schemes.joined(separator: ", "))"
        }
    }
}

extension CredentialError {
    /// What a developer may do who did not expect the error; empty where there is nothing to be done.
    package var advice: String {
        switch self {
        case .setElsewhere: "set credentials in the environment of the call"
        case .missing, .loginRequired, .loggedOut:
            "log in, or let calls that need no credential go without (allowsAnonymous, usesCredentials)"
        default: ""
        }
    }
}
