public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
public import SwitchyardServices

/// A request that a ``LoopbackServer`` has received.
public struct RecordedRequest: Sendable, Hashable {
    /// The number of the request, counted from 1 since the server was created.
    public let number: Int
    /// The number of the connection, counted from 1 in the order of acceptance since the server was created.
    public let connection: Int
    /// The number of the request on its connection, counted from 1.
    public let numberOnConnection: Int
    /// The time at which the head of the request had arrived completely, on the system's monotonic clock.
    public let time: MonotonicTime
    /// The method.
    public let method: HTTPMethod
    /// The request target as received: the percent-encoded path and query.
    public let target: String
    /// The header fields in the order in which they were received.
    public let headers: HTTPHeaders
    /// The received bytes of the head, including the empty line at its end.
    public let headBytes: Data
    /// The body bytes that have arrived, without chunk framing.
    ///
    /// At most ``LoopbackLimits/recordedBodyBytes`` are recorded.
    public internal(set) var body = Data()
    /// The number of body bytes that have arrived, including bytes that were not recorded because of the limit.
    public internal(set) var bodyCount = 0
    /// The trailer fields after a chunked body; empty if there are none.
    public internal(set) var trailers = HTTPHeaders()
    /// Whether the request has arrived completely.
    public internal(set) var isComplete = false
    /// The status of the response, or `nil` if no response head has been sent.
    public internal(set) var status: Int?

    /// The percent-encoded path without the query.
    public var path: String { target.pathOfTarget }

    /// The recorded body as text.
    ///
    /// Bytes that are not valid UTF-8 are replaced by U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// The numbers of connections and requests of a ``LoopbackServer`` since it was created or its records were cleared.
public struct LoopbackStatistics: Sendable, Hashable {
    /// The number of accepted connections.
    public internal(set) var connectionsAccepted = 0
    /// The number of open connections.
    ///
    /// Clearing the records does not change this number.
    public internal(set) var connectionsOpen = 0
    /// The number of requests whose head has arrived.
    public internal(set) var requestsReceived = 0
    /// The number of requests that have arrived completely.
    public internal(set) var requestsCompleted = 0
    /// The number of requests in progress: the head has arrived, and the response is not complete.
    ///
    /// Clearing the records does not change this number.
    public internal(set) var requestsInProgress = 0
    /// The number of responses whose last byte was passed to the operating system.
    public internal(set) var responsesSent = 0
    /// The number of requests that were rejected because they were not valid HTTP/1.1.
    public internal(set) var badRequests = 0
}

/// The limits on what a ``LoopbackServer`` buffers and records; a negative limit counts as 0.
public struct LoopbackLimits: Sendable, Hashable {
    /// The maximum size of a request head in bytes.
    ///
    /// The default is 64 KiB. A request with a larger head receives a response with status 431.
    public var headBytes: Int {
        didSet { headBytes = max(0, headBytes) }
    }
    /// The maximum number of body bytes per request that are buffered until the handler reads them.
    ///
    /// The default is 64 KiB. When the buffer is full, the client has to wait.
    public var bufferedBodyBytes: Int {
        didSet { bufferedBodyBytes = max(0, bufferedBodyBytes) }
    }
    /// The maximum number of body bytes that are recorded for each request.
    ///
    /// The default is 1 MiB.
    public var recordedBodyBytes: Int {
        didSet { recordedBodyBytes = max(0, recordedBodyBytes) }
    }
    /// The maximum number of recorded requests.
    ///
    /// The default is 10,000. If there are more requests, the oldest records are removed.
    public var recordedRequests: Int {
        didSet { recordedRequests = max(0, recordedRequests) }
    }
    /// The time after which the server closes an idle connection, or `nil` (the default) for no limit.
    ///
    /// The time starts at the end of the last response, or when the connection is accepted. A client that sends a
    /// request just before the end of this time can find the connection closed.
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
