package import SwitchyardServices

/// A request as a `Transport` receives it: complete, with an absolute URL and a body that is ready to be sent.
public struct HTTPRequest: Sendable {
    /// The way in which the response body is delivered.
    public enum Delivery: Sendable, Hashable {
        /// The body is delivered as a whole when it is complete.
        ///
        /// A truncated body is an error.
        case whole
        /// The body is delivered in chunks with backpressure: while the app does not read, the transport receives only
        /// a bounded number of bytes from the server.
        case stream
    }

    /// The timeouts of an exchange.
    ///
    /// A timeout that is `nil` sets no limit of its own.
    public struct Timeouts: Sendable, Hashable {
        /// The time from the start to the end of the TCP and TLS handshake.
        ///
        /// If `nil`, the transport's default applies.
        public var connect: Duration? {
            get { packedConnect.value }
            set { packedConnect = PackedDuration(newValue) }
        }
        /// The maximum time without any transferred byte of the request body or of the response.
        public var idle: Duration? {
            get { packedIdle.value }
            set { packedIdle = PackedDuration(newValue) }
        }
        /// The time from the start to the last byte of the response.
        public var total: Duration? {
            get { packedTotal.value }
            set { packedTotal = PackedDuration(newValue) }
        }

        package var packedConnect: PackedDuration
        package var packedIdle: PackedDuration
        package var packedTotal: PackedDuration

        /// Creates timeouts, which are all `nil` by default.
        public init(connect: Duration? = nil, idle: Duration? = nil, total: Duration? = nil) {
            packedConnect = PackedDuration(connect)
            packedIdle = PackedDuration(idle)
            packedTotal = PackedDuration(total)
        }
    }

    /// The networks that an exchange may use; by default all of them.
    ///
    /// Apple systems know the cost of a network. If a transport cannot determine the cost, a request that forbids a
    /// kind of network fails with ``/SwitchyardServices/WireFailure/unsupported`` and is not sent.
    public struct NetworkAccess: Sendable, Hashable {
        /// Whether cellular networks may be used.
        public var allowsCellular: Bool
        /// Whether networks that charge by usage may be used.
        public var allowsExpensive: Bool
        /// Whether networks in Low Data Mode may be used.
        public var allowsConstrained: Bool

        /// Creates a set of permissions.
        public init(allowsCellular: Bool = true, allowsExpensive: Bool = true, allowsConstrained: Bool = true) {
            self.allowsCellular = allowsCellular
            self.allowsExpensive = allowsExpensive
            self.allowsConstrained = allowsConstrained
        }

        /// Whether every network may be used.
        package var isUnlimited: Bool { allowsCellular && allowsExpensive && allowsConstrained }
    }

    /// The purpose of an exchange, as a hint to the system for sharing the bandwidth.
    ///
    /// Apple systems use it as the service type of the connection. Other systems ignore it.
    public enum Traffic: Sendable, Hashable {
        /// Any purpose; the default.
        case standard
        /// Work that the user does not wait for, such as prefetching.
        case background
        /// Work that the user is waiting for.
        case responsive
        /// Video.
        case video
        /// Voice of a conversation.
        case voice
    }

    /// The method.
    public var method: HTTPMethod
    /// The absolute URL.
    public var url: RequestURL
    /// The header fields, in order.
    public var headers: HTTPHeaders
    /// The body.
    public var body: HTTPBody
    /// The timeouts of the exchange.
    public var timeouts: Timeouts
    /// The way in which the response body is delivered.
    public var delivery: Delivery
    /// The maximum size of the response body in bytes after decompression.
    ///
    /// If `nil`, the size is not limited.
    public var responseBodyLimit: Int?
    /// Whether only the header section of a redirect response (301, 302, 303, 307, 308 with a `Location`) is needed.
    ///
    /// If `true`, such a response is delivered with an empty body, even if its body fails. The response is delivered
    /// when its body has arrived, but at most 100 ms after the header section. If the body arrives within this time,
    /// the connection can be reused. The default is `false`; a `NetworkClient` sets it if it follows redirects without
    /// asking. The property has no effect on streamed responses, because these are delivered with their header section
    /// anyway.
    package var skipsRedirectBody = false
    /// Whether the request asks for a protocol upgrade (RFC 9110 section 7.8), so that a 101 (Switching Protocols)
    /// response opens a connection.
    ///
    /// The body of that response is the bytes of the other protocol, and ``HTTPBodyStream/connection`` sends bytes. For
    /// any other response only the header section is delivered. Such a request is streamed, has no body and uses
    /// HTTP/1.1.
    package var opensConnection = false
    /// Whether a transport may resend the request by itself if a reused connection turns out to be dead.
    ///
    /// If `nil`, only requests with a safe method are resent (RFC 9110 section 9.2.1). The value determines the
    /// `resendRule`.
    public var mayBeRepeated: Bool?
    /// The networks that the exchange may use; by default all of them.
    public var networkAccess = NetworkAccess()
    /// The purpose of the exchange; `Traffic.standard` by default.
    public var traffic = Traffic.standard
    /// The trust and client identity for this exchange.
    ///
    /// If `nil`, the transport's configuration applies. An exchange with its own configuration uses separate
    /// connections, and exchanges with other configurations do not share these connections. Connection limits count the
    /// connections of each configuration separately.
    public var tls: TLSConfiguration? {
        get { boxedTLS?.value }
        set { boxedTLS = newValue.map { Boxed($0) } }
    }
    /// The header fields in which the client has put credentials.
    ///
    /// These fields are redacted in descriptions.
    package var credentialFields: [String] = []
    /// Whether the exchange requires a new connection, as a health probe does; by default `false`.
    ///
    /// An idle connection may be dead without a sign of it, so a probe over it could fail even if the server works.
    /// `URLSessionTransport` ignores this property, because `URLSession` chooses the connections.
    package var needsNewConnection = false
    /// The TLS configuration, boxed because it is large and few requests have one.
    private var boxedTLS: Boxed<TLSConfiguration>?

    /// Whether sending the request twice in a row has the same effect as sending it once.
    ///
    /// The value is ``mayBeRepeated`` or, if ``mayBeRepeated`` is `nil`, depends on the method (RFC 9110 section
    /// 9.2.2). Idempotence alone does not permit resending a request: see `resendRule`.
    package var isIdempotent: Bool { mayBeRepeated ?? method.isIdempotent }

    /// The rule for resending the request, which follows from ``mayBeRepeated`` or, if ``mayBeRepeated`` is `nil`, from
    /// the method.
    ///
    /// A transport resends a request by itself only under `ResendRule.anytime`. `URLSessionTransport` cannot enforce
    /// this for methods that are idempotent by definition. On Linux it cannot enforce this for any method.
    package var resendRule: ResendRule { ResendRule(method, mayBeRepeated: mayBeRepeated) }

    /// Creates a request, by default a GET request without a body and without timeouts.
    public init(
        method: HTTPMethod = .get,
        url: RequestURL,
        headers: HTTPHeaders = HTTPHeaders(),
        body: HTTPBody = .none,
        timeouts: Timeouts = Timeouts(),
        delivery: Delivery = .whole,
        responseBodyLimit: Int? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.delivery = delivery
        self.responseBodyLimit = responseBodyLimit
    }
}
