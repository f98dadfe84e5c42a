#if os(Linux)
    import CLibcurl
    import Foundation
    public import SwitchyardHTTP

    /// The transport for Linux, based on the system's libcurl.
    ///
    /// One thread drives all exchanges of a transport. The thread starts with the first request. Connections are kept
    /// and reused, so create one transport and share it. After the last reference to the transport is released, active
    /// exchanges complete, and then everything is closed. ``shutdown()`` ends everything immediately.
    ///
    /// A request whose method is not idempotent is sent at most once. If an idle connection turns out to be dead when
    /// such a request is sent, the request fails with `TransportError.Kind.connectionReset` instead of being sent
    /// again. libcurl sends an idempotent request again on a new connection.
    ///
    /// Programs that the process starts do not inherit its connections. The exception is a pair of sockets by which
    /// libcurl wakes its own thread (seen with 7.88). After a fork without an exec, the child must not use a transport
    /// of its parent, because the thread exists only in the parent.
    ///
    /// The memory that libcurl frees after each response is kept for later requests: one 16 KiB buffer for each active
    /// request plus 64 more, and 64 pieces of each size up to 2 KiB. The memory is kept until the thread ends or has
    /// been idle for ``Configuration/idleConnectionTimeout``. For this purpose, the first transport of a process
    /// initializes libcurl with its own memory functions, unless libcurl has already been initialized. All memory comes
    /// from `malloc`, so other users of libcurl in the process are not affected.
    ///
    /// The only header fields added to a request are `Host`, the framing of its body and, with
    /// ``Configuration/decompressesResponses``, `Accept-Encoding`.
    public final class CurlTransport: Transport {
        private let loops: CurlLoops
        /// The transports for requests whose TLS configuration differs from this transport's configuration.
        private let others: TransportsByTLS

        /// Creates a transport.
        ///
        /// - Parameter configuration: The configuration of all exchanges.
        /// - Throws: `TransportError`. The kind is `TransportError.Kind.closed` if libcurl is missing, older than 7.68
        ///   or cannot be initialized, or if a file of the configuration cannot be read. The message names the package
        ///   to install. The kind is ``/SwitchyardServices/WireFailure/unsupported`` if libcurl does not support
        ///   the configuration, and ``/SwitchyardServices/WireFailure/resourcesExhausted`` if the system has no
        ///   file descriptors or memory left.
        public init(configuration: Configuration = Configuration()) throws(TransportError) {
            let library = try CurlLibrary.open()
            loops = try CurlLoops(settings: CurlSettings(configuration, library: library))
            others = TransportsByTLS { tls throws(TransportError) in
                var configuration = configuration
                configuration.tls = tls
                return try CurlTransport(configuration: configuration)
            }
        }

        /// Starts an exchange and returns immediately.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - progress: A closure that receives the number of bytes sent and received, in order, on the transport's
        ///     thread.
        ///   - completion: A closure that is called once, on the transport's thread. It must not block.
        /// - Returns: A handle that cancels the exchange.
        public func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            withExtendedLifetime(loops.current) { lease -> any TransportTask in
                let loop = lease.loop
                if let tls = request.tls, !loop.uses(tls) {
                    return others.start(request, tls, progress: progress, completion: completion)
                }
                let exchange = CurlExchange(of: request, on: loop, progress: progress, completion: completion)
                do throws(TransportError) {
                    try loop.prepare(exchange, for: request)
                    loop.submit(.start(exchange))
                    return exchange
                } catch {
                    return RefusedExchange(error, completion: completion)
                }
            }
        }

        /// Makes later requests use new connections.
        ///
        /// Active requests continue on their connections.
        ///
        /// This method has no effect if the transport has not sent anything yet, or if the system has no file
        /// descriptors left.
        public func retireConnections() {
            loops.refresh()
            others.retireConnections()
        }

        /// Shuts the transport down: active exchanges and all later requests end with `TransportError.Kind.closed`.
        public func shutdown() {
            loops.close()
            others.shutdown()
        }
    }

    extension CurlTransport {
        /// The configuration of all exchanges of a transport.
        public struct Configuration: Sendable {
            /// The trust settings of the transport.
            public var tls = TLSConfiguration()
            /// The proxy, none by default.
            ///
            /// Without this setting, no proxy is used even if environment variables name one.
            public var proxy = Proxy.none
            /// The maximum time for establishing a connection including TLS, 20 seconds by default.
            ///
            /// This time applies to requests without a limit of their own. If `nil`, there is no limit. In 20 seconds,
            /// TCP tries to reach a server five times. If a server accepts the connection but never responds in TLS,
            /// the request fails after this time with ``/SwitchyardServices/WireFailure/connectTimeout``, and
            /// nothing was sent.
            public var connectTimeout: Duration? = .seconds(20)
            /// The allowed versions of HTTP.
            public var httpVersion = HTTPVersion.automatic
            /// Whether a request waits for a connection that another request is opening to the same https server, to
            /// share it over HTTP/2; `true` by default.
            ///
            /// The wait ends when the TLS handshake ends. It lasts at most 300 ms, and at most a quarter of the time
            /// that the request's timeouts leave. After that time, or if the connection fails, the request opens a
            /// connection of its own, unless another connection is ready first. If the server chooses HTTP/1.1 in the
            /// handshake, later requests of this transport to the server do not wait.
            ///
            /// Requests whose body is a stream do not wait. With libcurl before 7.80, no request waits.
            ///
            /// If `false`, each request that finds no connection opens one.
            public var waitsForMultiplexing = true
            /// The addresses to use instead of DNS.
            ///
            /// The transport's initializer fails if a host contains a port, a port is outside 1 to 65535, or an address
            /// is invalid.
            public var hostOverrides: [HostOverride] = []
            /// The path of a Unix socket to which all requests go, whatever their URL, by default `nil`.
            ///
            /// The path has at most 107 bytes (unix(7)). The transport's initializer fails if the path is longer.
            public var unixSocketPath: String?
            /// The maximum number of connections to one server.
            ///
            /// If `nil`, the default, there is no limit.
            ///
            /// Further requests wait for a connection. This wait does not count towards their idle timeout.
            public var maximumConnectionsPerHost: Int?
            /// The maximum number of connections in total.
            ///
            /// If `nil`, the default, there is no limit.
            ///
            /// Further requests wait for a connection. This wait does not count towards their idle timeout.
            public var maximumConnections: Int?
            /// The maximum number of idle connections that are kept, 256 by default.
            public var maximumIdleConnections = 256
            /// The time for which an idle connection is kept, in whole seconds, 60 s by default.
            ///
            /// Servers close idle connections after 5 s (Node), 60 s (many load balancers) or 75 s (nginx). If the
            /// transport closes a connection earlier than the server, no request is sent on a connection that the
            /// server is just closing.
            public var idleConnectionTimeout = Duration.seconds(60)
            /// The maximum number of bytes per second that one exchange receives.
            ///
            /// If `nil`, the default, there is no limit.
            ///
            /// libcurl keeps the rate within a tenth for a body that takes a second or longer.
            public var maximumDownloadRate: Int?
            /// The maximum number of bytes per second that one exchange sends.
            ///
            /// If `nil`, the default, there is no limit.
            ///
            /// The rate is enforced between pieces of 16 KiB or more. A body in memory of up to 64 KiB is sent in one
            /// piece.
            public var maximumUploadRate: Int?
            /// Whether the transport requests compression and decompresses responses, `true` by default.
            ///
            /// If a request has its own `Accept-Encoding`, or a `Range`, its caller receives the body as the server
            /// sent it. Such a body is compressed if the response's `Content-Encoding` says so. A decompressed response
            /// keeps the `Content-Encoding` and `Content-Length` that the server sent.
            public var decompressesResponses = true
            /// The maximum size of a response's head in bytes, 128 KiB by default.
            ///
            /// Interim responses and trailers count too.
            ///
            /// libcurl has limits of its own: 100 KiB per line and 300 KiB in total.
            public var maximumHeadSize = 128 << 10
            /// The number of bytes of a streamed response that are buffered for a slow reader, 1 MiB by default.
            ///
            /// If the buffer is full, the server is slowed down. The default is the number of bytes that arrive while a
            /// reader's thread is being woken: with 256 KiB, a large body took twice as long on a busy machine
            /// (benchmark `transfer`). If many streams wait for slow readers, a smaller value saves memory.
            public var streamBufferSize = 1 << 20
            /// Whether responses have `TransferMetrics`, `true` by default.
            ///
            /// Metrics cost about half a microsecond per request.
            public var collectsMetrics = true

            /// Creates a configuration with default values.
            public init() {}
        }
    }

    extension CurlTransport.Configuration {
        /// The allowed versions of HTTP.
        public enum HTTPVersion: Sendable, Hashable {
            /// HTTP/2 if the server offers it in the TLS handshake, otherwise HTTP/1.1.
            case automatic
            /// HTTP/1.1 only.
            case http1Only
        }

        /// An address to use for a host and port instead of DNS.
        public struct HostOverride: Sendable, Hashable {
            /// The host as in the URL, without its port.
            ///
            /// The host is a name or an IPv4 address, not an IPv6 address.
            package var host: String
            /// The port.
            package var port: Int
            /// The IP addresses, without brackets, at least one.
            ///
            /// The addresses are tried in order.
            package var addresses: [String]

            /// Creates an override.
            public init(host: String, port: Int, addresses: [String]) {
                self.host = host
                self.port = port
                self.addresses = addresses
            }
        }

        /// The proxy settings.
        public enum Proxy: Sendable, Hashable {
            /// No proxy.
            case none
            /// The proxy from the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
            ///
            /// All names except `http_proxy` may also be in capitals.
            case environment
            /// This proxy server.
            case server(ProxyServer)
        }

        /// A proxy server.
        public struct ProxyServer: Sendable, Hashable {
            /// The protocol of a proxy.
            public enum Kind: Sendable, Hashable {
                /// HTTP, with a tunnel (CONNECT) for https.
                case http
                /// HTTP over TLS to the proxy, which is verified with the same certificate authorities as servers.
                case https
                /// SOCKS 5 (RFC 1928). The proxy resolves host names.
                case socks5
                /// SOCKS 4a. The proxy resolves host names.
                case socks4a
            }

            /// The protocol of the proxy.
            package var kind: Kind
            /// The host of the proxy: a name or an address, without a port and, for IPv6, without brackets.
            package var host: String
            /// The port of the proxy.
            package var port: Int
            /// The user and password for the proxy, or `nil` if it requires none.
            package var credentials: Credentials?
            /// The hosts that are reached without the proxy, none by default.
            ///
            /// A name also matches its subdomains. IP addresses, networks such as `10.0.0.0/8`, and `*` for all hosts
            /// are allowed as well. One entry may contain several of these values, separated by commas or spaces.
            package var exceptions: [String]

            /// A user and a password.
            public struct Credentials: Sendable, Hashable {
                /// The user name.
                package var user: String
                /// The password.
                package var password: String

                /// Creates credentials.
                public init(user: String, password: String) {
                    self.user = user
                    self.password = password
                }
            }

            /// Creates a proxy.
            public init(
                kind: Kind,
                host: String,
                port: Int,
                credentials: Credentials? = nil,
                exceptions: [String] = []
            ) {
                self.kind = kind
                self.host = host
                self.port = port
                self.credentials = credentials
                self.exceptions = exceptions
            }
        }
    }

    extension CurlTransport.Configuration.ProxyServer.Credentials: RedactedDescribable {
        /// The user, with the password redacted.
        public var description: String { "\(user):***" }
    }

    /// The system's libcurl, opened at run time.
    struct CurlLibrary: Sendable {
        /// The version of libcurl as 0xXXYYZZ.
        let version: UInt32

        /// Opens libcurl, or throws an error that names the problem and the package to install.
        static func open() throws(TransportError) -> CurlLibrary {
            guard ycurl_open() == Int32(YCURL_AVAILABLE.rawValue) else {
                throw TransportError(
                    .closed,
                    message: String(cString: ycurl_open_message()),
                    mayHaveBeenSent: false
                )
            }
            return CurlLibrary(version: ycurl_version())
        }

        func has(_ feature: Int) -> Bool {
            ycurl_has_feature(Int32(feature))
        }

        /// Whether pins can be compared with all certificates of a server's chain, instead of only with the server's
        /// own certificate.
        var showsChains: Bool { ycurl_shows_chains() }

        /// Returns libcurl's text for a result code (CURLcode).
        static func text(of code: Int32) -> String {
            String(cString: ycurl_error_text(code))
        }
    }
#endif
