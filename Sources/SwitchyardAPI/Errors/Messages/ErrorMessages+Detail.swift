import SwitchyardClient
import SwitchyardHTTP

extension ErrorMessages {
    /// What a code says too little about to tell the user what to do.
    public enum Detail: Sendable, Hashable, CaseIterable {
        /// ``APIError/Code/notConnected``, though nothing is known to be wrong with the user's network: a server refuses
        /// the connection, has no route to it, or has a name that is not found.
        case serverUnreachable
        /// ``APIError/Code/failed`` for ``APIError/SecurityReason/loginRequired``.
        case loginRequired

        /// The code that it belongs to.
        public var code: APIError.Code {
            switch self {
            case .serverUnreachable: .notConnected
            case .loginRequired: .failed
            }
        }

        init?(_ reason: APIError.Reason) {
            switch reason {
            case .transport(let error) where error.kind == .connectionRefused || error.kind == .dnsFailure:
                self = .serverUnreachable
            case .renewal(let outage) where outage.transportError?.kind != .offline: self = .serverUnreachable
            case .security(.loginRequired): self = .loginRequired
            default: return nil
            }
        }
    }
}
