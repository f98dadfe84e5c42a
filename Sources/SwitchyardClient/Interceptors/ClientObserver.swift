package import SwitchyardServices
package import SwitchyardTransport

/// An observer that can be attached to a running client, and that observes the calls dispatched until it is detached.
///
/// An interceptor must be set before the client exists, and it adds a cost to every call. This type is for temporary
/// observers, such as an inspector. While none is attached, calls have no extra cost.
package final class ClientObserver: Sendable {
    /// Returns the transport that carries a request to a server, which is the client's transport or a replacement.
    package typealias Detour = @Sendable (RequestID, Server.ID?, any Transport) -> any Transport

    /// Called for a call that is served from the cache without a dispatch, with the response's status and whether the
    /// response was fresh.
    package typealias Recall = @Sendable (APIConfiguration, _ status: Int, _ isFresh: Bool) -> Void

    let observe: RequestInterceptor.Observe
    let detour: Detour?
    /// Called for each response from the cache, on the task that made the call.
    package let recall: Recall?

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - detour: Returns the transport for each request. If `nil`, the client's transport is used.
    ///   - recall: Called for responses from the cache.
    ///   - observe: Called for each event, on the observers' queue.
    package init(
        detour: Detour? = nil,
        recall: Recall? = nil,
        observe: @escaping RequestInterceptor.Observe
    ) {
        self.detour = detour
        self.recall = recall
        self.observe = observe
    }
}
