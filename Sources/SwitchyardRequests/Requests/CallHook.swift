public import SwitchyardAPI
public import SwitchyardClient

/// Looks into the call of a request object, and may stop it or its success.
///
/// The hooks of a request come on its queue, each in the order of the hooks:
///
///     reform          may change what is sent, or end the request by throwing
///     shouldCall      may refuse to send
///                     (stored answer, reachability, sending)
///     didCall         the call is under way
///                     (checking, decoding, storing, then willStop of the accessories)
///     beforeSuccess   may veto: then the request fails
///     beforeFailure
///                     (filters, delegate, handlers)
///     afterSuccess, afterFailure
///                     (didStop of the accessories)
///
/// A cancelled request comes with none of the last four.
public protocol CallHook: Sendable {
    /// Changes what is sent, or checks it.
    ///
    /// - Parameter configuration: What is sent.
    /// - Throws: The error with which the request ends.
    func reform(_ configuration: inout APIConfiguration) throws(APIError)
    /// Whether the call may be made at all; otherwise the request fails with `APIError.SecurityReason.forbidden()`.
    func shouldCall(_ configuration: APIConfiguration) -> Bool
    /// The call is under way.
    func didCall(_ id: RequestID)
    /// Whether the success may be told; otherwise the request fails with `APIError.SecurityReason.forbidden()`.
    ///
    /// Hooks learn of the answer all but its value, since requests have values of any type.
    func beforeSuccess(_ id: RequestID, _ answer: APIResponse<Void>) -> Bool
    /// Everybody has been told of the success.
    func afterSuccess(_ id: RequestID, _ answer: APIResponse<Void>)
    /// Nobody has been told of the failure.
    func beforeFailure(_ id: RequestID, _ error: APIError)
    /// Everybody has been told of the failure.
    func afterFailure(_ id: RequestID, _ error: APIError)
}

extension CallHook {
    /// Changes nothing.
    public func reform(_ configuration: inout APIConfiguration) throws(APIError) {}
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
