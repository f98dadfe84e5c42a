import Foundation
public import SwitchyardHTTP
import SwitchyardServices

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Darwin)
    import Security
#endif

/// The transport for Apple systems, on `URLSession`.
///
/// Keeps no cookies, credentials or cache and follows no redirect. Timeouts run on its own timers, which hold to a few
/// milliseconds where `URLSession` counts in seconds.
///
/// ### What `URLSession` cannot do
/// - It does not tell when a connection stands: `HTTPRequest.Timeouts.connect` has no effect, the other two bound
///   connecting too.
/// - It adds `User-Agent`, `Accept`, `Accept-Language` and `Accept-Encoding` unless the request has them, and undoes
///   compression always.
/// - Repeated header fields of a response arrive joined by a comma, those of `Set-Cookie` aside, and without their order.
/// - A client certificate has to be in the keychain, so a `TLSConfiguration.clientIdentity` is refused.
/// - A GET with a body is refused.
/// - It may send a request of an idempotent method again by itself, when a connection breaks, one with
///   ``/SwitchyardHTTP/HTTPRequest/mayBeRepeated`` off too (Apple, QA1941); a POST it does not. So a PUT or DELETE may be
///   sent twice to the same server. A PUT whose body is a stream is sent once: the stream is not handed out again.
/// - A server that is to wait for a slow reader may send on for a while: what lies beyond
///   ``Configuration/maximumBacklog`` ends the exchange with ``/SwitchyardHTTP/TransportError/Kind/bodyTooLarge``.
/// - The length of a streamed request body may be left out, where the body goes out in chunks.
/// - An exchange that takes a week is ended.
///
/// The article on transports has the promises one by one, each with what Apple's documentation says of it.
///
/// ### On Linux
/// It works there as well, with more limits, which are those of the system's Foundation: only the system's trust, no
/// back-pressure, no streamed request bodies, no metrics, and a peer that sends trailers or hangs up within a
/// head ends the process. What a server says on a kept connection unasked is not looked at, and **any request is sent
/// again, a POST too, when a kept connection turns out to be closed**: `HTTPRequest.resendRule` has no effect
/// there. ``CurlTransport`` has none of these.
public final class URLSessionTransport: Transport {
    /// What holds for all exchanges of a transport.
    public struct Configuration: Sendable {
        /// Whom the transport trusts.
        public var tls = TLSConfiguration()
        /// Connections to one server at most; 6 by default, as `URLSession` has it.
        public var maximumConnectionsPerHost = 6
        /// Bytes of a streamed response that wait for a slow reader before the server is slowed down; 256 KiB by default.
        public var streamBufferSize = 256 << 10
        /// Bytes of a streamed response that may wait for a slow reader at most, or else the exchange ends; 64 MiB by
        /// default, never less than ``streamBufferSize``.
        ///
        /// `URLSession` slows a server down when it gets to it, which may be late, and on Linux never.
        public var maximumBacklog = 64 << 20

        /// Creates a configuration in which everything has its default.
        public init() {}
    }

    let configuration: Configuration
    private let sessions: URLSessionDriver
    /// The transports of requests whose TLS configuration is another.
    private let others: TransportsByTLS
    /// The connections for other protocols.
    let sockets = URLSessionSockets()

    /// Creates a transport.
    ///
    /// - Parameter configuration: What holds for all its exchanges.
    /// - Throws: `TransportError` with `TransportError.Kind.unsupported` when `URLSession` cannot do what the
    ///   configuration asks for, and with `TransportError.Kind.closed` when a file of it cannot be read.
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
        settings.timeoutIntervalForRequest = URLSessionRequest.patience
        #if canImport(Darwin)
            settings.keep(to: configuration.tls)
        #endif
        return settings
    }

    /// Starts an exchange and returns at once.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Told about bytes sent and received, in order, on the transport's queue.
    ///   - completion: Called once, on the transport's queue or a timer's: it must not block.
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

    /// Has the requests from now on go out on new connections; those under way go on, on theirs.
    ///
    /// URLSession on Linux cannot, and goes on as before.
    public func retireConnections() {
        sessions.retireConnections()
        others.retireConnections()
    }

    /// Ends the transport: what is in flight ends with `TransportError.Kind.closed`, as does every later request.
    public func shutdown() {
        sessions.close(cancelling: true)
        sockets.close()
        others.shutdown()
    }
}

extension URLSessionConfiguration {
    /// Has nothing sent but what a request says, and nothing kept of its answer.
    package func keepNothing() {
        urlCache = nil
        httpCookieStorage = nil
        urlCredentialStorage = nil
        httpShouldSetCookies = false
        httpCookieAcceptPolicy = .never
        requestCachePolicy = .reloadIgnoringLocalCacheData
    }
}
