public import SwitchyardAPI
public import SwitchyardClient

/// A hook into the call of a request object.
///
/// It may refuse the call or turn its success into a failure.
///
/// The hooks of a request are called on its queue, in order, at these points:
///
///     transform       may change what is sent, or end the request by throwing
///     shouldCall      may refuse to send
///                     (stored response, reachability, sending)
///     didCall         the call is running
///                     (validating, decoding, storing, then willStop of the observers)
///     beforeSuccess   may refuse the success, so that the request fails
///     beforeFailure
///                     (filters, delegate, handlers)
///     afterSuccess, afterFailure
///                     (didStop of the observers)
///
/// For a cancelled request, the last four methods are not called.
public protocol CallHook: Sendable {
    /// Changes or validates the configuration that is sent.
    ///
    /// - Parameter configuration: The configuration.
    /// - Throws: The error with which the request ends.
    func transform(_ configuration: inout APIConfiguration) throws(APIError)
    /// Returns whether the call may be made. If not, the request fails with `APIError.SecurityReason.forbidden()`.
    func shouldCall(_ configuration: APIConfiguration) -> Bool
    /// Called when the call has started.
    func didCall(_ id: RequestID)
    /// Returns whether the request may succeed. If not, it fails with `APIError.SecurityReason.forbidden()`.
    ///
    /// The response has no value, because a hook can be added to requests for values of any type.
    func beforeSuccess(_ id: RequestID, _ answer: APIResponse<Void>) -> Bool
    /// Called after all handlers of a success have been called.
    func afterSuccess(_ id: RequestID, _ answer: APIResponse<Void>)
    /// Called before any handler of a failure is called.
    func beforeFailure(_ id: RequestID, _ error: APIError)
    /// Called after all handlers of a failure have been called.
    func afterFailure(_ id: RequestID, _ error: APIError)
}

extension CallHook {
    /// Changes nothing.
    public func transform(_ configuration: inout APIConfiguration) throws(APIError) {}
    /// Allows every call.
    public func shouldCall(_ configuration: APIConfiguration) -> Bool { true }
    /// Does nothing.
    public func didCall(_ id: RequestID) {}
    /// Allows every success.
    public func beforeSuccess(_ id: RequestID, _ answer: APIResponse<Void>) -> Bool { true }
    /// Does nothing.
    public func afterSuccess(_ id: RequestID, _ answer: APIResponse<Void>) {}
    /// Does nothing.
    public func beforeFailure(_ id: RequestID, _ error: APIError) {}
    /// Does nothing.
    public func afterFailure(_ id: RequestID, _ error: APIError) {}
}
