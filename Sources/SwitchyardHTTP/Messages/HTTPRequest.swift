package import SwitchyardServices

/// A request as it goes to a `Transport`: complete, with an absolute URL and a body that is ready to be sent.
public struct HTTPRequest: Sendable {
    /// How the response's body is handed over.
    public enum Delivery: Sendable, Hashable {
        /// In one piece when it is complete; a body that is cut short is an error.
        case whole
        /// Piece by piece, with back-pressure: while nobody reads, at most a bounded buffer is taken from the server.
        case stream
    }

    /// How long an exchange may take.
    ///
    /// `nil` is no limit of its own.
    public struct Timeouts: Sendable, Hashable {
        /// From the start to the finished TCP and TLS handshake; `nil` leaves it to the transport.
        public var connect: Duration? {
            get { packedConnect.value }
            set { packedConnect = PackedDuration(newValue) }
        }
        /// Between two pieces, of the request's body or of the response.
        public var idle: Duration? {
            get { packedIdle.value }
            set { packedIdle = PackedDuration(newValue) }
        }
        /// From the start to the last byte of the response.
        public var total: Duration? {
            get { packedTotal.value }
            set { packedTotal = PackedDuration(newValue) }
        }

        package var packedConnect: PackedDuration
        package var packedIdle: PackedDuration
        package var packedTotal: PackedDuration

        /// Creates timeouts; every one is off unless given.
        public init(connect: Duration? = nil, idle: Duration? = nil, total: Duration? = nil) {
            packedConnect = PackedDuration(connect)
            packedIdle = PackedDuration(idle)
            packedTotal = PackedDuration(total)
        }
    }

    /// Which networks an exchange may use; all of them unless set.
    ///
    /// Apple systems know what a network costs. Where a transport cannot tell, a request that forbids one is refused
    /// with ``TransportError/Kind/unsupported`` and not sent over it all the same.
    public struct NetworkAccess: Sendable, Hashable {
        /// Whether cellular networks may be used.
        public var allowsCellular: Bool
        /// Whether networks that cost money by use may be used.
        public var allowsExpensive: Bool
        /// Whether networks in low-data mode may be used.
        public var allowsConstrained: Bool

        /// Creates a set of permissions.
        public init(allowsCellular: Bool = true, allowsExpensive: Bool = true, allowsConstrained: Bool = true) {
            self.allowsCellular = allowsCellular
            self.allowsExpensive = allowsExpensive
            self.allowsConstrained = allowsConstrained
        }

        /// Whether every network may be used.
        public var isUnlimited: Bool { allowsCellular && allowsExpensive && allowsConstrained }
    }

    /// What an exchange is for, so that a system can share its connection out; a hint.
    ///
    /// Apple systems take it as the service type of the connection; others treat all traffic alike.
    public enum Traffic: Sendable, Hashable {
        /// Anything; the default.
        case standard
        /// What nobody waits for: prefetching.
        case background
        /// What the user waits for at this moment.
        case responsive
        /// Video.
        case video
        /// Sound of a conversation.
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
    /// How long the exchange may take.
    public var timeouts: Timeouts
    /// How the response's body is handed over.
    public var delivery: Delivery
    /// The largest response body in bytes (after decompression) that is accepted; `nil` is no limit.
    public var responseBodyLimit: Int?
    /// Whether of an answer that points elsewhere (301, 302, 303, 307, 308 with a `Location`) the head alone is wanted.
    ///
    /// Then it is handed over with an empty body, whatever becomes of its body: when that has come, or 100 ms after the
    /// head, since a body that comes right behind its head costs no connection. `false` unless set; a `NetworkClient` sets it where it follows redirects without asking. Of no effect on what is
    /// streamed, which is handed over with its head anyway.
    public var skipsRedirectBody = false
    /// Whether it asks for another protocol (RFC 9110 section 7.8), and a 101 (Switching Protocols) hands the connection over.
    ///
    /// The body of that response is the other protocol's bytes, and ``HTTPBodyStream/connection`` sends. Of any other response
    /// the head alone is handed over. Such a request is streamed, has no body and goes over HTTP/1.1.
    package var opensConnection = false
    /// Whether a transport may send it once more by itself, when a connection that was kept turns out to be dead; only
    /// for a safe method (RFC 9110 section 9.2.1) when `nil`.
    ///
    /// It decides the ``resendRule``.
    public var mayBeRepeated: Bool?
    /// Which networks the exchange may use; all of them unless set.
    public var networkAccess = NetworkAccess()
    /// What the exchange is for; anything unless set.
    public var traffic = Traffic.standard
    /// Whom this exchange trusts and how it identifies itself, in place of its transport's configuration; `nil` unless
    /// set.
    ///
    /// It goes over connections of its own, which no exchange with another configuration uses. Limits for connections
    /// count them apart.
    public var tls: TLSConfiguration? {
        get { boxedTLS?.value }
        set { boxedTLS = newValue.map { Boxed($0) } }
    }
    /// The header fields in which the client has put credentials; they are hidden in what is shown.
    package var credentialFields: [String] = []
    /// Whether the exchange needs a new connection, as a probe does; no unless set.
    ///
    /// A kept connection may be dead without a word. `URLSessionTransport` chooses its connections itself and takes no
    /// notice.
    package var needsNewConnection = false
    /// Behind a reference, since it is large and few have one.
    private var boxedTLS: Boxed<TLSConfiguration>?

    /// Whether sending it twice in a row has the effect of sending it once: by ``mayBeRepeated``, else by the method
    /// (RFC 9110 section 9.2.2).
    ///
    /// That alone does not allow to send it again: see ``resendRule``.
    public var isIdempotent: Bool { mayBeRepeated ?? method.isIdempotent }

    /// When the request may be sent again: by ``mayBeRepeated``, else by the method.
    ///
    /// A transport sends a request again by itself only under ``ResendRule/anytime``. `URLSessionTransport` cannot keep
    /// to it for a method that is idempotent by nature, and on Linux not at all.
    public var resendRule: ResendRule { ResendRule(method, mayBeRepeated: mayBeRepeated) }

    /// Creates a request.
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
