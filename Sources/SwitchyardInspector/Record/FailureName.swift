import SwitchyardClient
import SwitchyardHTTP

extension RequestFailure.Reason {
    /// One word for the reason; that of the transport where it failed there.
    var name: String {
        switch self {
        case .cancelled: "cancelled"
        case .deadlineExceeded: "timedOut"
        case .transport(let error): error.kind.rawValue
        case .invalidRequest: "invalidRequest"
        case .unknownServer: "unknownServer"
        case .overloaded: "overloaded"
        case .duplicateID: "duplicateID"
        case .redirect: "redirect"
        case .credentials: "credentials"
        case .rateLimited: "rateLimited"
        case .queueFull: "queueFull"
        case .superseded: "superseded"
        case .vetoed: "vetoed"
        case .closed: "closed"
        }
    }
}
