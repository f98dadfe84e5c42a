import Foundation
package import SwitchyardAPI
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// The events of a server, over as many connections as it takes (HTML Standard, section 9.2).
///
///     for try await event in client.eventSource(APIConfiguration(path: "news")) {
///         show(event.data)
///     }
///
/// When the connection ends or breaks, another is made after the server's reconnection time, to the next server of the
/// service if the last one failed, with `Last-Event-ID` from the last whole event. It ends without an error when the
/// server answers 204, and with one when the answer is no event stream. A request that must not be repeated
/// (`APIConfiguration.resendRule`) makes one connection: its events end with it, or fail with it. Leaving the loop,
/// cancelling the task and ``/SwitchyardClient/NetworkClient/cancel(_:)-(RequestID)`` close it. It ends when its user logs
/// out or another user logs in: an id of one user is never sent for another.
public struct EventSource: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = ServerSentEvent
    /// The failure that ends the events.
    public typealias Failure = EventSourceFailure

    /// How an event source behaves.
    public struct Options: Sendable {
        /// How long to wait before connecting again, until the server says otherwise; 3 s unless set.
        ///
        /// A server that asks for less than half a second is given that.
        public var reconnectionTime = Duration.seconds(3)
        /// The longest wait after connections that failed one after the other, each of which doubles it; 60 s unless set.
        ///
        /// What failures have added to the reconnection time ends when the network is back
        /// (``/SwitchyardClient/NetworkClient/networkChanged(isOnline:)``).
        public var longestWait = Duration.seconds(60)
        /// How many connections may fail one after the other; no limit unless set.
        ///
        /// One over which a line came, or that was ended in good order, begins the count anew.
        public var maximumFailures: Int?
        /// The id to begin with: that of the last event the app has seen, in an earlier run for instance.
        public var lastEventID = ""
        /// The largest event in bytes; 1 MiB unless set.
        ///
        /// A larger one ends the events.
        public var eventLimit = 1 << 20

        /// Creates options; every one has a default.
        public init() {}
    }

    /// The name with which the source can be closed from elsewhere.
    public let id: RequestID
    let configuration: APIConfiguration
    let options: Options
    /// Held for as long as somebody listens.
    let client: NetworkClient

    init(_ configuration: APIConfiguration, _ options: Options, id: RequestID, client: NetworkClient) {
        self.configuration = configuration
        self.options = options
        self.id = id
        self.client = client
    }

    /// Starts listening; the connection is made when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(connection: EventConnection(self))
    }

    /// Listens event by event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let connection: EventConnection

        /// Returns the next event, or `nil` when the server has no more.
        ///
        /// - Throws: ``EventSourceFailure``.
        public mutating func next() async throws(EventSourceFailure) -> ServerSentEvent? {
            try await connection.next()
        }

        /// Returns the next event, or `nil` when the server has no more; the isolation of the caller plays no part.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(EventSourceFailure) -> ServerSentEvent? {
            try await connection.next()
        }
    }
}

/// Why an event source ended.
public enum EventSourceFailure: Error, Sendable {
    /// The request failed, or was cancelled.
    case request(RequestFailure)
    /// The server answered with a status other than 200 and 204; of the body the first 64 KiB.
    case refused(ServiceResponse)
    /// The answer is no `text/event-stream`; of the body the first 64 KiB.
    case contentType(ServiceResponse)

    /// What came in place of events; `nil` when nothing did.
    public var answer: ServiceResponse? {
        switch self {
        case .request: nil
        case .refused(let answer), .contentType(let answer): answer
        }
    }
}

extension EventSourceFailure: CustomStringConvertible {
    /// What came in place of events.
    public var description: String {
        switch self {
        case .request(let failure): failure.description
        case .refused(let answer): "the server answered with \(answer.status)"
        case .contentType(let answer):
            "the answer is \(answer.headers.contentType ?? "of no named type"), not text/event-stream"
        }
    }
}

extension NetworkClient {
    /// Listens to the events of a server.
    ///
    /// - Parameters:
    ///   - configuration: What to ask; `Accept`, `Cache-Control` and `Last-Event-ID` are added.
    ///   - options: How to connect again.
    ///   - id: The name with which it can be closed from elsewhere.
    /// - Returns: The events; the connection is made when the first is asked for. One listener at a time.
    public func eventSource(
        _ configuration: APIConfiguration,
        options: EventSource.Options = EventSource.Options(),
        id: RequestID = RequestID()
    ) -> EventSource {
        EventSource(configuration, options, id: id, client: self)
    }
}

extension ResponseBytes {
    /// The body as server-sent events, of this one connection.
    ///
    /// - Parameter limit: The largest event in bytes; 1 MiB unless given.
    /// - Returns: The events.
    public func events(limit: Int = 1 << 20) -> ResponseEvents {
        ResponseEvents(body: body, limit: limit)
    }
}

extension EventSourceFailure: Discreet {}

extension EventSourceFailure: APIErrorConvertible {
    package func apiError(in context: APIError.Context) -> APIError {
        switch self {
        case .request(let failure): return APIError(failure)
        case .refused(let answer): return error(.status(answer.status), of: answer)
        case .contentType(let answer):
            let received = answer.headers.contentType
            return error(.body(.contentType(received: received, acceptable: ["text/event-stream"])), of: answer)
        }
    }

    private func error(_ reason: APIError.Reason, of answer: ServiceResponse) -> APIError {
        var context = APIError.Context(answer.context)
        context.requestID = answer.id
        context.underlying = self
        context.keep(status: answer.status, headers: answer.headers, body: answer.data ?? Data())
        return APIError(reason, context: context)
    }
}
