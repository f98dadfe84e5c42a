package import SwitchyardClient
import SwitchyardHTTP

extension RequestFailure.Reason {
    /// A one-word name of the reason.
    ///
    /// For a transport error, this is the name of its kind.
    package var name: String {
        switch self {
        case .cancelled: "cancelled"
        case .deadlineExceeded: "timedOut"
        case .transport(let error): error.kind.rawValue
        case .invalidRequest: "invalidRequest"
        case .unknownServer: "unknownServer"
        case .unserved: "unserved"
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
