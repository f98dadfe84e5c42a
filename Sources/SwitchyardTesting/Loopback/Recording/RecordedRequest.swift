public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// A request as a ``LoopbackServer`` has received it.
public struct RecordedRequest: Sendable, Hashable {
    /// The number of the request, counted from 1 since the server was made.
    public let number: Int
    /// The number of the connection, counted from 1 in the order of acceptance since the server was made.
    public let connection: Int
    /// The number of the request on its connection, counted from 1.
    public let numberOnConnection: Int
    /// When the head was complete, on the system's monotonic clock.
    public let time: MonotonicTime
    /// The method.
    public let method: HTTPMethod
    /// The target as it came: path and query, percent-encoded.
    public let target: String
    /// The header fields, in the order in which they came.
    public let headers: HTTPHeaders
    /// The bytes of the head, the empty line included.
    public let headBytes: Data
    /// The body as far as it has arrived, up to the limit of the server, without the framing of chunks.
    public internal(set) var body = Data()
    /// The number of bytes of the body that have arrived, those beyond the limit included.
    public internal(set) var bodyCount = 0
    /// The trailer fields.
    public internal(set) var trailers = HTTPHeaders()
    /// Whether the request arrived to its end.
    public internal(set) var isComplete = false
    /// The status that was answered; `nil` as long as no head was sent.
    public internal(set) var status: Int?

    /// The path, percent-encoded, without the query.
    public var path: String { target.pathOfTarget }

    /// The body as text; what is not UTF-8 is replaced by U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// What a ``LoopbackServer`` has counted since it was made, or since its records were cleared.
public struct LoopbackStatistics: Sendable, Hashable {
    /// Connections that were accepted.
    public internal(set) var connectionsAccepted = 0
    /// Connections that are open now; clearing the records does not change it.
    public internal(set) var connectionsOpen = 0
    /// Requests whose head has arrived.
    public internal(set) var requestsReceived = 0
    /// Requests that have arrived to their end.
    public internal(set) var requestsCompleted = 0
    /// Requests that have arrived and are not answered to their end; clearing the records does not change it.
    public internal(set) var requestsInProgress = 0
    /// Responses whose last byte was given to the system.
    public internal(set) var responsesSent = 0
    /// Requests that were refused since they were not HTTP/1.1.
    public internal(set) var badRequests = 0
}

/// How much a ``LoopbackServer`` takes and keeps; what is negative counts as 0.
public struct LoopbackLimits: Sendable, Hashable {
    /// The largest head in bytes, 64 KiB unless set; a larger one is answered with 431.
    public var headBytes: Int {
        didSet { headBytes = max(0, headBytes) }
    }
    /// Bytes of a request's body that are kept for a handler that does not read, before the client has to wait; 64 KiB
    /// unless set.
    public var bufferedBodyBytes: Int {
        didSet { bufferedBodyBytes = max(0, bufferedBodyBytes) }
    }
    /// Bytes of each request's body that are recorded; 1 MiB unless set.
    public var recordedBodyBytes: Int {
        didSet { recordedBodyBytes = max(0, recordedBodyBytes) }
    }
    /// The number of requests that are recorded, 10,000 unless set; the oldest goes first.
    public var recordedRequests: Int {
        didSet { recordedRequests = max(0, recordedRequests) }
    }
    /// How long a connection may be idle before the server closes it, at any length unless set.
    ///
    /// It counts from the end of the last answer, or from the start of a connection that has brought no request: what
    /// comes just then meets a connection that is being closed.
    public var idleTimeout: Duration? {
        didSet { idleTimeout = idleTimeout.map { max(.zero, $0) } }
    }

    /// Creates limits.
    public init(
        headBytes: Int = 65_536,
        bufferedBodyBytes: Int = 65_536,
        recordedBodyBytes: Int = 1_048_576,
        recordedRequests: Int = 10_000,
        idleTimeout: Duration? = nil
    ) {
        self.headBytes = max(0, headBytes)
        self.bufferedBodyBytes = max(0, bufferedBodyBytes)
        self.recordedBodyBytes = max(0, recordedBodyBytes)
        self.recordedRequests = max(0, recordedRequests)
        self.idleTimeout = idleTimeout.map { max(.zero, $0) }
    }
}
