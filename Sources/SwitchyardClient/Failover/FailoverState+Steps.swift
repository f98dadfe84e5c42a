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
    /// The first server that the request left because connecting took longer than the limit, or `nil` if there is none.
    var leftServer: Server.ID? { attempts.first { $0.hasLeftConnecting }?.route.server }

    /// The number of attempts that certainly reached no server.
    var unreached: Int { attempts.count { $0.outcome?.failureKind?.isWithoutWork == true } }

    /// The first server that refused a streamed body without processing the request, or `nil` if there is none.
    var refusingServer: Server.ID? { attempts.first { $0.isRefusedStream }?.route.server }

    /// The server to which the request can be sent once more, or `nil` if there is none.
    ///
    /// It is ``refusingServer`` or ``leftServer``. The request cannot be sent there if it has already been sent there
    /// again, if the server does not serve the request, or if an attempt is in flight.
    var serverToReturnTo: Server.ID? {
        guard !hasEnded, newestLive == nil else { return nil }
        return [refusingServer, leftServer].compactMap(\.self).first { server in
            !barred.contains(server) && tried.count { $0 == server } == 1
        }
    }
}
