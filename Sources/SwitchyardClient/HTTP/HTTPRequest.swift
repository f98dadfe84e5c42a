/// A request as it goes to a ``Transport``: complete, with an absolute URL and a body that is ready to be sent.
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
        /// From the start to the finished TCP and TLS handshake.
        public var connect: Duration?
        /// Between two pieces of the response.
        public var idle: Duration?
        /// From the start to the last byte of the response.
        public var total: Duration?

        /// Creates timeouts; every one is off unless given.
        public init(connect: Duration? = nil, idle: Duration? = nil, total: Duration? = nil) {
            self.connect = connect
            self.idle = idle
            self.total = total
        }
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
