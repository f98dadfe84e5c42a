package import SwitchyardServices
package import SwitchyardTransport

/// Looks on at the calls of a client that runs already: at those that are dispatched from when it comes until it goes.
///
/// An interceptor has to be named before the client exists, and costs every call its way through the flow. This is for
/// whoever looks only at times, an inspector for instance: while nobody looks on, a call costs what it costs without.
package final class Onlooker: Sendable {
    /// Names what carries a request to a server: the client's transport, or something in its place.
    package typealias Detour = @Sendable (RequestID, Server.ID?, any Transport) -> any Transport

    /// Is told of a call that a cache answered, with its status, and whether that was fresh: nothing was dispatched.
    package typealias Recall = @Sendable (APIConfiguration, _ status: Int, _ isFresh: Bool) -> Void

    let observe: RequestInterceptor.Observe
    let detour: Detour?
    /// Is told of each answer from a cache, by the one who asked for it.
    package let recall: Recall?

    /// Creates an onlooker.
    ///
    /// - Parameters:
    ///   - detour: Names what carries each request; the client's transport does unless given.
    ///   - recall: Is told of answers from a cache.
    ///   - observe: Is told what happens, on the queue of the observers.
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
