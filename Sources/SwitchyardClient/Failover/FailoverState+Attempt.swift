import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTransport

extension FailoverState {
    /// One attempt of the request.
    struct Attempt {
        let route: ServerPool.Route
        var url: RequestURL
        /// The redirects that were followed, if any.
        var trail: Boxed<RedirectChain>?
        let startedAt: MonotonicTime
        /// The activity of the body, or `nil` unless the body is large.
        let activity: BodyActivity?
        /// Whether the first request of the attempt carried the credential.
        let isAuthorized: Bool
        /// Whether the time for connecting was limited, so that another server can still get the request.
        var isConnectingLimited = false
        /// Whether the body is a stream, which a transport cannot send again.
        var hasStreamedBody = false
        /// Whether the body is a stream, and the server has certainly not processed the request (RFC 9113 section 8.7).
        ///
        /// The transport sends any other body again itself.
        var isRefusedStream = false
        /// Whether the last redirect led to a host outside the service.
        var isOutsideService = false
        /// The number of redirects that the attempt followed.
        var hops = 0
        /// The handle of the transfer after the last redirect.
        var task: (any TransportTask)?
        var outcome: AttemptOutcome?
        /// The end of the attempt, or `nil` while the attempt is in flight.
        var end: End?

        /// The time and the kind of an attempt's end.
        struct End {
            var time: MonotonicTime
            var ending: CallAttempt.Ending
        }

        /// The attempt whose server is responsible for the response body, or `nil` after a redirect to another host.
        var chargeable: SwitchyardServices.Attempt? { trail?.value.hasLeft == true ? nil : route.attempt }
    }
}

extension FailoverState.Attempt {
    /// Whether the attempt ended because connecting took longer than the limit.
    var hasLeftConnecting: Bool { isConnectingLimited && outcome?.failureKind == .connectTimeout }

    /// Whether the last request was sent to the host that the credential is for, or carried the credential anyway.
    func isHome(_ authorization: RequestAuthorization?) -> Bool {
        guard let trail = trail?.value else { return isAuthorized || url.isAt(route.home) }
        let isShown = authorization?.names.contains { trail.request.headers[$0] != nil } ?? false
        return isShown || !trail.hasLeft && url.isAt(route.home)
    }
}
