/// A failure of an exchange below HTTP.
///
/// All transports report these kinds, and the choice of a server uses them as evidence. `TransportError.Kind` is
/// another name of this type.
public enum WireFailure: String, Sendable, Hashable, CaseIterable {
    /// The exchange was cancelled by the app or by the client.
    case cancelled
    /// The host name could not be resolved.
    case dnsFailure
    /// No process listens at the address, or a proxy reports that it cannot reach the server.
    case connectionRefused
    /// No connection was established within the time that the request allows for it.
    case connectTimeout
    /// The exchange exceeded its total timeout, or another timeout after the connection was established.
    case timeout
    /// The peer closed the connection with a reset or before it responded.
    case connectionReset
    /// The body ended before its announced length.
    case truncated
    /// The data that the peer sent is not valid HTTP.
    case protocolViolation
    /// The TLS handshake failed.
    case tlsFailure
    /// The server's certificate was rejected: untrusted, expired, for another host, or not pinned.
    case certificateRejected
    /// The connection through the proxy failed.
    case proxyFailure
    /// There is no route, because this machine is offline.
    case offline
    /// This machine has no file descriptors, memory or threads for another connection.
    case resourcesExhausted
    /// The response's header section is larger than allowed.
    case headersTooLarge
    /// The response body is larger than the limit of the request.
    case bodyTooLarge
    /// The request body could not be read, or its length differs from the announced length.
    case requestBodyFailed
    /// The response body could not be decompressed.
    case decodingFailed
    /// The request is malformed, because a header field, the method or the URL cannot be sent.
    case invalidRequest
    /// The transport does not support what the request requires.
    case unsupported
    /// The transport has been shut down, or could not be created.
    case closed
    /// Any other failure, which the message of the error describes.
    case other
}

extension WireFailure {
    /// The party that is responsible for a failure.
    package enum Fault: Sendable, Hashable {
        /// The server, or the network between this machine and the server.
        case server
        /// The app, because the server responded and the response exceeds a limit that the app sets.
        case caller
        /// The request, the proxy or this machine, so that the failure says nothing about the server.
        case machine
    }

    /// The party that is responsible for the failure.
    package var fault: Fault {
        switch self {
        case .connectionRefused, .dnsFailure, .tlsFailure, .certificateRejected, .connectTimeout, .timeout,
            .connectionReset, .truncated, .protocolViolation, .decodingFailed, .other:
            .server
        case .headersTooLarge, .bodyTooLarge: .caller
        case .cancelled, .offline, .resourcesExhausted, .proxyFailure, .requestBodyFailed, .invalidRequest,
            .unsupported, .closed:
            .machine
        }
    }
}
