#if os(Linux)
    import CLibcurl
    import Foundation
    public import SwitchyardHTTP

    /// The transport for Linux, on the system's libcurl.
    ///
    /// One thread drives all exchanges of a transport; it starts with the first request. Connections are kept and used
    /// again, so make one transport and share it. Releasing the last reference lets what is in flight run to its end
    /// and then closes everything; ``shutdown()`` ends it at once.
    ///
    /// A request whose method is not idempotent is sent at most once: when a kept-alive connection turns out to be dead
    /// as such a request goes out, it fails with `TransportError.Kind.connectionReset` instead of being sent again. An
    /// idempotent one is sent again by libcurl on a fresh connection.
    ///
    /// Its connections are closed in programs that the process starts; a pair of sockets that libcurl keeps to wake
    /// itself is not (seen with 7.88). After a fork without an exec, the child must not use a transport of its parent:
    /// the thread is the parent's.
    ///
    /// The memory that libcurl gives back with each response is kept for its next requests: a buffer of 16 KiB for each
    /// that is under way and 64 beyond, and 64 pieces of each size up to 2 KiB, until the thread ends or has been idle for
    /// ``Configuration/idleConnectionTimeout``. For that the first transport of a process sets libcurl up with memory
    /// functions of its own, unless somebody has set it up before. All memory is `malloc`'s, for whoever else uses
    /// libcurl in the process as well.
    ///
    /// Nothing is added to a request but `Host`, the framing of its body and, with
    /// ``Configuration/decompressesResponses``, `Accept-Encoding`.
    public final class CurlTransport: Transport {
        private let loops: CurlLoops
        /// The transports of requests whose TLS configuration is another.
        private let others: TransportsByTLS

        /// Creates a transport.
        ///
        /// - Parameter configuration: What holds for all its exchanges.
        /// - Throws: `TransportError` with `TransportError.Kind.closed` when libcurl is missing, older than 7.68 or
        ///   cannot be set up (the message says what to install) or a file of the configuration cannot be read, and with
        ///   ``/SwitchyardHTTP/TransportError/Kind/unsupported`` when it cannot do what the configuration asks for.
        public init(configuration: Configuration = Configuration()) throws(TransportError) {
            let library = try CurlLibrary.open()
            loops = try CurlLoops(settings: CurlSettings(configuration, library: library))
            others = TransportsByTLS { tls throws(TransportError) in
                var configuration = configuration
                configuration.tls = tls
                return try CurlTransport(configuration: configuration)
            }
        }

        /// Starts an exchange and returns at once.
        ///
        /// - Parameters:
        ///   - request: What to send.
        ///   - progress: Told about bytes sent and received, in order, on the transport's thread.
        ///   - completion: Called once, on the transport's thread: it must not block.
        /// - Returns: A handle that cancels the exchange.
        public func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            let lease = loops.current
            let loop = lease.loop
            defer { withExtendedLifetime(lease) {} }
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

        /// Has the requests from now on go out on new connections; those under way go on, on theirs.
        ///
        /// A transport that has sent nothing yet, or to which the system gives no more descriptors, stays as it is.
        public func retireConnections() {
            loops.renew()
            others.retireConnections()
        }

        /// Ends the transport: what is in flight ends with `TransportError.Kind.closed`, as does every later request.
        public func shutdown() {
            loops.close()
            others.shutdown()
        }
    }

    extension CurlTransport {
        /// What holds for all exchanges of a transport.
        public struct Configuration: Sendable {
            /// Whom the transport trusts.
            public var tls = TLSConfiguration()
            /// The proxy; none by default, whatever the environment says.
            public var proxy = Proxy.none
            /// How long a connection may take to come about, TLS included, where the request sets no limit of its own; 20
            /// seconds by default, and no limit when `nil`.
            ///
            /// In that time TCP asks a server five times. A server that takes the connection and never speaks TLS is
            /// reported as ``/SwitchyardHTTP/TransportError/Kind/connectTimeout`` after it: nothing was sent.
            public var connectTimeout: Duration? = .seconds(20)
            /// Which versions of HTTP may be used.
            public var httpVersion = HTTPVersion.automatic
            /// Whether a request waits for a connection that is being made to the same server, to share it over HTTP/2.
            ///
            /// Off by default: each request that finds no connection makes one.
            public var waitsForMultiplexing = false
            /// Addresses to use instead of what the name service says.
            ///
            /// No transport is made with a host that has a port of its own, with a port outside 1 to 65535, or with addresses
            /// that are none.
            public var hostOverrides: [HostOverride] = []
            /// The path of a Unix socket to which all requests go, whatever their URL says; `nil` by default.
            ///
            /// It has at most 107 bytes (unix(7)); no transport is made with a longer one.
            public var unixSocketPath: String?
            /// Connections to one server at most; more requests wait, which their idle timeout leaves out.
            ///
            /// `nil`, the default, is no limit.
            public var maximumConnectionsPerHost: Int?
            /// Connections in all at most; more requests wait, as with those to one server.
            ///
            /// `nil`, the default, is no limit.
            public var maximumConnections: Int?
            /// Connections that are kept for later at most; 256 by default.
            public var maximumIdleConnections = 256
            /// How long an unused connection is kept; 60 s by default, whole seconds.
            ///
            /// Servers close theirs after 5 s (Node), 60 s (many load balancers) or 75 s (nginx). Closing first spares
            /// requests that meet a connection which is just being closed.
            public var idleConnectionTimeout = Duration.seconds(60)
            /// Bytes per second that one exchange receives at most; `nil`, the default, is no limit.
            ///
            /// libcurl keeps it to within a tenth over a body that takes a second or longer.
            public var maximumDownloadRate: Int?
            /// Bytes per second that one exchange sends at most; `nil`, the default, is no limit.
            ///
            /// It is kept between pieces of 16 KiB or more; a body in memory of up to 64 KiB goes out in one.
            public var maximumUploadRate: Int?
            /// Whether compression is asked for and undone; on by default.
            ///
            /// A request that has its own `Accept-Encoding`, or a `Range`, gets its bytes as they come: compressed, where the
            /// response's `Content-Encoding` says so. A decoded
            /// response keeps `Content-Encoding` and `Content-Length` as the server sent them.
            public var decompressesResponses = true
            /// The largest head of a response in bytes, interim responses and trailers included; 128 KiB by default.
            ///
            /// libcurl has limits of its own: 100 KiB a line and 300 KiB in all.
            public var maximumHeadSize = 128 << 10
            /// Bytes of a streamed response that wait for a slow reader before the server is slowed down; 1 MiB by
            /// default.
            ///
            /// So much comes in while a reader's thread is being woken: with 256 KiB a large body took twice as long on a
            /// busy machine (benchmark `transfer`). Where many streams wait for slow readers, less saves memory.
            public var streamBufferSize = 1 << 20
            /// Whether responses carry `TransferMetrics`; on by default, for about half a microsecond a request.
            public var collectsMetrics = true

            /// Creates a configuration in which everything has its default.
            public init() {}
        }
    }

    extension CurlTransport.Configuration {
        /// Which versions of HTTP may be used.
        public enum HTTPVersion: Sendable, Hashable {
            /// HTTP/2 where the server offers it in the TLS handshake, HTTP/1.1 elsewhere.
            case automatic
            /// HTTP/1.1 only.
            case http1Only
        }

        /// An address to use for a host and port, instead of what the name service says.
        public struct HostOverride: Sendable, Hashable {
            /// The host, as it stands in the URL, without its port; a name, no IP address of version 6.
            public var host: String
            /// The port.
            public var port: Int
            /// IP addresses, without brackets, tried in order; at least one.
            public var addresses: [String]

            /// Creates an override.
            public init(host: String, port: Int, addresses: [String]) {
                self.host = host
                self.port = port
                self.addresses = addresses
            }
        }

        /// How the network is reached.
        public enum Proxy: Sendable, Hashable {
            /// Directly.
            case none
            /// As the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, the last three in capitals as well.
            case environment
            /// Through this server.
            case server(ProxyServer)
        }

        /// A proxy.
        public struct ProxyServer: Sendable, Hashable {
            /// What it speaks.
            public enum Kind: Sendable, Hashable {
                /// HTTP; a tunnel (CONNECT) for https.
                case http
                /// HTTP over TLS to the proxy, which is trusted by the same authorities as servers are.
                case https
                /// SOCKS 5 (RFC 1928); the proxy resolves names.
                case socks5
                /// SOCKS 4a; the proxy resolves names.
                case socks4a
            }

            /// What it speaks.
            public var kind: Kind
            /// Its host: a name or an address, without a port, that of IPv6 without brackets.
            public var host: String
            /// Its port.
            public var port: Int
            /// User and password for it; `nil` when it wants none.
            public var credentials: Credentials?
            /// Hosts that are reached directly; none unless set.
            ///
            /// A name covers its subdomains. IP addresses, networks such as `10.0.0.0/8`, and `*` for all hosts are entries
            /// too. An entry may hold several, separated by commas or blanks.
            public var exceptions: [String]

            /// User and password.
            public struct Credentials: Sendable, Hashable {
                /// The user.
                public var user: String
                /// The password.
                public var password: String

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

    extension CurlTransport.Configuration.ProxyServer.Credentials: Discreet {
        /// The user, without the password.
        public var description: String { "\(user):***" }
    }

    /// The opened library.
    struct CurlLibrary: Sendable {
        /// The version as 0xXXYYZZ.
        let version: UInt32

        /// Opens libcurl, or says what is wrong and what to install.
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

        /// Whether all certificates of a server can be compared with pins, not only its own.
        var showsChains: Bool { ycurl_shows_chains() }

        /// The text of a result code, in libcurl's words.
        static func text(of code: Int32) -> String {
            String(cString: ycurl_error_text(code))
        }
    }
#endif
