import Foundation
public import SwitchyardHTTP
import SwitchyardServices

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Darwin)
    import Security
#endif

/// The transport for Apple systems, based on `URLSession`.
///
/// The transport stores no cookies, credentials or cached responses, and follows no redirects. Timeouts use
/// Switchyard's own timers, which are accurate to a few milliseconds. The timeouts of `URLSession` are in seconds.
///
/// ### Limitations of `URLSession`
/// - It does not report when a connection is established. Therefore `HTTPRequest.Timeouts.connect` has no effect, and
///   the other two timeouts include the time to connect.
/// - It adds `User-Agent`, `Accept`, `Accept-Language` and `Accept-Encoding` unless the request has these fields, and
///   always decompresses responses.
/// - Repeated header fields of a response are joined by a comma, except `Set-Cookie`, and their order is lost.
/// - A client certificate must be in PKCS 12 data or in the keychain; a client certificate in PEM is refused.
/// - A GET with a body is refused.
/// - If a connection breaks, `URLSession` may send a request with an idempotent method again, even if
///   ``/SwitchyardHTTP/HTTPRequest/mayBeRepeated`` is `false` (Apple, QA1941). It does not send a POST again. Therefore
///   a PUT or DELETE may be sent twice to the same server. A PUT with a streamed body is sent only once, because the
///   stream is not provided again.
/// - If a reader is slow, the server should wait, but it may continue to send for a while. If the buffered bytes exceed
///   ``Configuration/maximumBacklog``, the exchange ends with ``/SwitchyardServices/WireFailure/bodyTooLarge``.
/// - The length of a streamed request body may be omitted. In this case, the body is sent in chunks.
/// - An exchange that takes a week is ended.
///
/// The article on transports lists the promises one by one, each with a reference to Apple's documentation.
///
/// ### On Linux
/// The transport also works on Linux, with additional limitations of the system's Foundation: only the system's trust
/// settings, no back-pressure, no streamed request bodies and no metrics. A server that sends trailers or closes the
/// connection within a head crashes the process. Unsolicited data from a server on an idle connection is not detected,
/// and **any request, even a POST, is sent again if an idle connection turns out to be closed**:
/// `HTTPRequest.resendRule` has no effect there. ``CurlTransport`` has none of these limitations.
public final class URLSessionTransport: Transport {
    /// The configuration of all exchanges of a transport.
    public struct Configuration: Sendable {
        /// The trust settings of the transport.
        public var tls = TLSConfiguration()
        /// The maximum number of connections to one server, 6 by default, as in `URLSession`.
        public var maximumConnectionsPerHost = 6
        /// The number of bytes of a streamed response that are buffered for a slow reader, 256 KiB by default.
        ///
        /// If the buffer is full, the server is slowed down.
        public var streamBufferSize = 256 << 10
        /// The maximum number of bytes of a streamed response that may wait for a slow reader, 64 MiB by default.
        ///
        /// If more bytes wait, the exchange ends. The limit is never less than ``streamBufferSize``. `URLSession` may
        /// slow a server down late, and on Linux it never does.
        public var maximumBacklog = 64 << 20

        /// Creates a configuration with default values.
        public init() {}
    }

    let configuration: Configuration
    private let sessions: URLSessionDriver
    /// The transports for requests whose TLS configuration differs from this transport's configuration.
    private let others: TransportsByTLS
    /// The WebSocket connections.
    let sockets = URLSessionSockets()

    /// Creates a transport.
    ///
    /// - Parameter configuration: The configuration of all exchanges.
    /// - Throws: `TransportError`. The kind is `TransportError.Kind.unsupported` if `URLSession` does not support the
    ///   configuration, and `TransportError.Kind.closed` if a file of the configuration cannot be read.
    public init(configuration: Configuration = Configuration()) throws(TransportError) {
        let trust = try URLSessionTrust(configuration.tls)
        self.configuration = configuration
        sessions = URLSessionDriver(configuration: Self.settings(configuration), trust: trust)
        others = TransportsByTLS { tls throws(TransportError) in
            var configuration = configuration
            configuration.tls = tls
            return try URLSessionTransport(configuration: configuration)
        }
    }

    deinit {
        sessions.close(cancelling: false)
    }

    static func settings(_ configuration: Configuration) -> URLSessionConfiguration {
        let settings = URLSessionConfiguration.ephemeral
        settings.keepNothing()
        settings.httpMaximumConnectionsPerHost = max(1, configuration.maximumConnectionsPerHost)
        settings.timeoutIntervalForRequest = URLSessionRequest.systemTimeout
        #if canImport(Darwin)
            settings.keep(to: configuration.tls)
        #endif
        return settings
    }

    /// Starts an exchange and returns immediately.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - progress: A closure that receives the number of bytes sent and received, in order, on the transport's queue.
    ///   - completion: A closure that is called once, on the transport's queue or the queue of a timer. It must not
    ///     block.
    /// - Returns: A handle that cancels the exchange.
    public func start(
        _ request: HTTPRequest,
        progress: TransferProgressHandler?,
        completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
    ) -> any TransportTask {
        if let tls = request.tls, tls != configuration.tls {
            return others.start(request, tls, progress: progress, completion: completion)
        }
        if request.opensConnection { return openConnection(request, completion) }
        let exchange = URLSessionExchange(
            request: request,
            configuration: configuration,
            progress: progress,
            completion: completion
        )
        do throws(TransportError) {
            try configuration.tls.check(request.url)
            let form = try URLSessionRequest(request)
            guard sessions.start(exchange, form) else { throw .shutDown }
            exchange.startTimers()
        } catch {
            DispatchQueue.global().async { exchange.end(.failure(error)) }
        }
        return exchange
    }

    /// Makes later requests use new connections.
    ///
    /// Active requests continue on their connections.
    ///
    /// This method has no effect on Linux.
    public func retireConnections() {
        sessions.retireConnections()
        others.retireConnections()
    }

    /// Shuts the transport down: active exchanges and all later requests end with `TransportError.Kind.closed`.
    public func shutdown() {
        sessions.close(cancelling: true)
        sockets.close()
        others.shutdown()
    }
}

extension URLSessionConfiguration {
    /// Disables the storage of cookies, credentials and responses, so that none of these are sent or kept.
    package func keepNothing() {
        urlCache = nil
        httpCookieStorage = nil
        urlCredentialStorage = nil
        httpShouldSetCookies = false
        httpCookieAcceptPolicy = .never
        requestCachePolicy = .reloadIgnoringLocalCacheData
    }
}
