package import SwitchyardServices
package import SwitchyardTransport

/// A ``CallObserver`` that can be attached to and detached from a running client.
///
/// The observer receives the calls that are dispatched while it is attached. In contrast, an interceptor must be set
/// before the client exists, and it adds a cost to every call. This type is for temporary observers, such as an
/// inspector. While no observer is attached, calls have no extra cost.
package final class ClientObserver: Sendable {
    /// A closure that returns the transport for a request to a server: the client's transport or a replacement.
    package typealias Detour = @Sendable (RequestID, Server.ID?, any Transport) -> any Transport

    let observer: any CallObserver
    let detour: Detour?

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - detour: Returns the transport for each request. If `nil`, the client's transport is used.
    ///   - observe: Called for each event, on the observers' queue.
    package init(
        detour: Detour? = nil,
        observe: @escaping @Sendable (DispatchEvent) -> Void
    ) {
        self.detour = detour
        observer = ClosureObserver(closure: observe)
    }
}
