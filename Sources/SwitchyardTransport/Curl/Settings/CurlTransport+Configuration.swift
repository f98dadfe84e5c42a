#if os(Linux)
    import Foundation
    public import SwitchyardHTTP

    extension CurlTransport {
        /// What holds for all exchanges of a transport.
        public struct Configuration: Sendable {
            /// Whom the transport trusts.
            public var tls = TLSConfiguration()
            /// The proxy; none by default, whatever the environment says.
            public var proxy = Proxy.none
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
            /// A request that has its own `Accept-Encoding`, or a `Range`, gets its bytes as they come. A decoded
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
            /// Whether responses carry ``TransferMetrics``; on by default, for about half a microsecond a request.
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
            /// Hosts that are reached directly; a name covers its subdomains.
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
#endif
