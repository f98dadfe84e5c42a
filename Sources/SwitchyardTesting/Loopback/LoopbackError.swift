/// Why a ``LoopbackServer`` could not do something.
public enum LoopbackError: Error, Sendable, Hashable {
    /// Another socket listens on the port.
    case portInUse(UInt16)
    /// A call to the operating system failed; the code is its `errno`.
    case system(call: String, code: Int32)
    /// The client closed the connection, or the server was stopped.
    case connectionClosed
    /// The client sent what is not HTTP/1.1, and got the status given.
    case badRequest(status: Int, reason: String)
    /// The body is larger than the limit given to the call that collects it.
    case bodyTooLarge(limit: Int)
    /// The task that waited was cancelled.
    case cancelled
}

extension LoopbackError: CustomStringConvertible {
    /// What happened, in words.
    public var description: String {
        switch self {
        case .portInUse(let port): "port \(port) is in use"
        case .system(let call, let code): "\(call) failed with errno \(code)"
        case .connectionClosed: "the connection was closed"
        case .badRequest(let status, let reason): "bad request (\(status)): \(reason)"
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .cancelled: "the task was cancelled"
        }
    }
}
