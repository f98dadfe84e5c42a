public import SwitchyardAPI
public import SwitchyardClient

/// Is told how request objects end; every method may be left out.
///
/// Called on the request's queue, before its handlers.
public protocol APIRequestDelegate: AnyObject, Sendable {
    /// The request has a value.
    func requestDidFinish(_ id: RequestID)
    /// The request failed.
    func request(_ id: RequestID, didFailWith error: APIError)
    /// The request was cancelled.
    func requestWasCancelled(_ id: RequestID)
}

extension APIRequestDelegate {
    /// Does nothing.
    public func requestDidFinish(_ id: RequestID) {}
    /// Does nothing.
    public func request(_ id: RequestID, didFailWith error: APIError) {}
    /// Does nothing.
    public func requestWasCancelled(_ id: RequestID) {}
}
