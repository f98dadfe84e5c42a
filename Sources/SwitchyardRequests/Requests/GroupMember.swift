import SwitchyardAPI

/// Something that can be started, cancelled and waited for together with others: a request, a message over a socket, a
/// computation.
///
/// ``APIRequest`` is one. Adopt it to put your own things into a ``RequestGroup``, a ``RequestChain`` or a
/// ``RequestGraph``.
public protocol GroupMember: AnyObject, Sendable {
    /// Starts it; does nothing when it was started before or has ended.
    ///
    /// - Returns: Whether this call made it go on.
    @discardableResult
    func resume() -> Bool

    /// Ends it unless it has ended; one that was never started ends too, and will not start.
    func cancel()

    /// Calls back once when it has ended and everybody else has been told; soon, if it has ended already.
    ///
    /// - Parameter observer: Called on any thread. Several may be added.
    func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void)
}
