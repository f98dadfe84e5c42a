package import SwitchyardServices
package import SwitchyardTransport

/// An observer that can be attached to and detached from a running client.
///
/// The observer receives the calls that are dispatched while it is attached. In contrast, an interceptor must be set
/// before the client exists, and it adds a cost to every call. This type is for temporary observers, such as an
/// inspector. While no observer is attached, calls have no extra cost.
package final class ClientObserver: Sendable {
    /// A closure that returns the transport for a request to a server: the client's transport or a replacement.
    package typealias Detour = @Sendable (RequestID, Server.ID?, any Transport) -> any Transport

    /// A closure that is called for a call that the cache answers without a dispatch.
    ///
    /// The closure receives the status of the response, and whether the response was fresh.
    package typealias Recall = @Sendable (APIConfiguration, _ status: Int, _ isFresh: Bool) -> Void

    let observe: RequestInterceptor.Observe
    let detour: Detour?
    /// The closure that is called for each response from the cache, on the task that made the call.
    package let recall: Recall?

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - detour: Returns the transport for each request. If `nil`, the client's transport is used.
    ///   - recall: Called for responses from the cache. If `nil`, they are not observed.
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
