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
    let messages: MessageObserver?
    /// Whether the observer is attached to a client.
    ///
    /// While it is not attached, it receives no messages, so open streams have no further cost for an observer that was
    /// detached.
    let isAttached = Locked(false)

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - detour: Returns the transport for each request. If `nil`, the client's transport is used.
    ///   - messages: Receives the messages of the streams that are opened while the observer is attached. If `nil`,
    ///     streams have no extra cost.
    ///   - observe: Called for each event, on the observers' queue.
    package init(
        detour: Detour? = nil,
        messages: MessageObserver? = nil,
        observe: @escaping @Sendable (DispatchEvent) -> Void
    ) {
        self.detour = detour
        self.messages = messages
        observer = ClosureObserver(closure: observe)
    }
}
