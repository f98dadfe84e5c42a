import SwitchyardHTTP
import SwitchyardServices

extension FailoverState {
    /// The reason why a timer has fired.
    enum Look {
        /// The wait for the failover budget is over.
        case held(Held)
        /// The newest attempt is slow.
        ///
        /// `tried` contains the names of the servers that were tried so far, and `timer` is the sequence number of the
        /// next timer to set.
        case slow(Attempt?, tried: [Server.ID], timer: Int)
    }

    /// The state of an attempt whose transfer has just been started.
    enum Attachment {
        /// The attempt waits for its response.
        case waiting
        /// The response arrived immediately.
        case answered
        /// The request has ended, so the attempt must be cancelled.
        case unwanted
    }

    /// The step that follows the end of an attempt.
    enum Step {
        /// Nothing follows, because the attempt or the request had already ended, or because another attempt continues.
        case none
        /// The attempt did not end the request, and another attempt may follow.
        case tryAnother
        /// The request has ended.
        case end(Ending)
    }
}

// MARK: - Servers

extension FailoverState {
    /// The first server that the request left because connecting took longer than the limit, or because the server
    /// refused a streamed body without processing the request, or `nil` if there is none.
    var leftServer: Server.ID? { attempts.first { $0.hasLeftConnecting || $0.isRefusedStream }?.route.server }

    /// The number of attempts that certainly reached no server.
    var unreached: Int { attempts.count { $0.outcome?.failureKind?.isWithoutWork == true } }

    /// ``leftServer`` if the request can be sent there again, otherwise `nil`.
    ///
    /// The request cannot be sent there if it has already been sent there again, if the server does not serve the
    /// request, or if an attempt is in flight.
    var serverToReturnTo: Server.ID? {
        guard !hasEnded, newestLive == nil, let leftServer, !barred.contains(leftServer) else { return nil }
        return tried.count { $0 == leftServer } == 1 ? leftServer : nil
    }
}

extension FailoverState.Attempt {
    /// Whether the attempt ended because connecting took longer than the limit.
    fileprivate var hasLeftConnecting: Bool { isConnectingLimited && outcome?.failureKind == .connectTimeout }

    /// Whether the last request was sent to the host that the credential is for, or carried the credential anyway.
    func isHome(_ authorization: RequestAuthorization?) -> Bool {
        guard let trail = trail?.value else { return isAuthorized || url.isAt(route.home) }
        let isShown = authorization?.names.contains { trail.request.headers[$0] != nil } ?? false
        return isShown || !trail.hasLeft && url.isAt(route.home)
    }
}
