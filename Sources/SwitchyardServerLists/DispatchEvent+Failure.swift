import SwitchyardClient
import SwitchyardHTTP

extension DispatchEvent.Kind {
    /// Whether the event shows that a request tried its servers and none of them worked.
    ///
    /// If a server fails, the request is sent to the next server. The result of the request therefore comes from the
    /// last server.
    var showsThatAllServersFail: Bool {
        switch self {
        case .roundEnded(.success(let response)), .ended(.success(let response)):
            response.context.server != nil && (502...504).contains(response.status)
        case .roundEnded(.failure(let failure)), .ended(.failure(let failure)):
            failure.context.server != nil && failure.reason.isOfServers
        default: false
        }
    }
}

extension RequestFailure.Reason {
    fileprivate var isOfServers: Bool {
        switch self {
        case .transport(let error): error.kind != .offline && Transience(error.kind) != .permanent
        case .deadlineExceeded, .overloaded: true
        default: false
        }
    }
}
