import Foundation
package import SwitchyardAPI
public import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

/// The events of a server, received over as many connections as needed (HTML Standard, section 9.2).
///
///     for try await event in client.eventSource(APIConfiguration(path: "news")) {
///         show(event.data)
///     }
///
/// When a connection ends or breaks, another connection is opened after the server's reconnection time, with
/// `Last-Event-ID` from the last complete event. If the last connection failed, the next server of the service is used.
/// The sequence ends without an error if the server responds with 204. The sequence throws an error if the response is
/// not an event stream. If the request must not be repeated (`APIConfiguration.resendRule`), there is only one
/// connection, and the sequence ends or fails when that connection ends or fails. Leaving the loop, cancelling the
/// task, and ``/SwitchyardClient/NetworkClient/cancel(_:)-(RequestID)`` close the connection. The sequence also ends
/// when the user for whom it was started logs out or another user logs in. The event id of one user is therefore never
/// sent for another user.
public struct EventSource: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// The failure that ends the events.
    public typealias Failure = EventSourceFailure

    /// The options of an event source.
    public struct Options: Sendable {
        /// The time to wait before reconnecting; 3 s unless set.
        ///
        /// The server can set another time. If the server requests less than 0.5 s, the time is 0.5 s.
        public var reconnectionTime = Duration.seconds(3)
        /// The maximum wait after consecutive failed connections; 60 s unless set.
        ///
        /// Each failure doubles the wait. When the network is available again
        /// (``/SwitchyardClient/NetworkClient/networkChanged(isOnline:)``), the wait is shortened to the reconnection
        /// time.
        public var longestWait = Duration.seconds(60)
        /// The maximum number of consecutive failed connections; no limit unless set.
        ///
        /// A connection that received a line or ended properly resets the count.
        public var maximumFailures: Int?
        /// The event id to start with, such as the id of the last event that the app received in an earlier run.
        public var lastEventID = ""
        /// The maximum size of an event in bytes; 1 MiB unless set.
        ///
        /// A larger event ends the sequence.
        public var eventLimit = 1 << 20

        /// Creates options with default values.
        public init() {}
    }

    /// The identifier with which any task can close the source:
    /// ``/SwitchyardClient/NetworkClient/cancel(_:)-(RequestID)``.
    public let id: RequestID
    let configuration: APIConfiguration
    let options: Options
    /// The client, retained while an iterator exists.
    let client: NetworkClient

    init(_ configuration: APIConfiguration, _ options: Options, id: RequestID, client: NetworkClient) {
        self.configuration = configuration
        self.options = options
        self.id = id
        self.client = client
    }

    /// Creates an iterator.
    ///
    /// The connection is opened when the first event is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(connection: EventConnection(self))
    }

    /// An iterator over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let connection: EventConnection

        /// Returns the next event, or `nil` if the server has no more events.
        ///
        /// - Throws: ``EventSourceFailure``.
        public mutating func next() async throws(EventSourceFailure) -> ServerSentEvent? {
            try await connection.next()
        }

        /// Returns the next event, or `nil` if the server has no more events; the `actor` parameter is ignored.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(EventSourceFailure) -> ServerSentEvent? {
            try await connection.next()
        }
    }
}

/// An error that ended an event source.
public enum EventSourceFailure: Error, Sendable {
    /// The request failed or was cancelled.
    case request(RequestFailure)
    /// The server responded with a status other than 200 and 204.
    ///
    /// The value is the response with at most the first 64 KiB of its body.
    case refused(ServiceResponse)
    /// The response is not a `text/event-stream`.
    ///
    /// The value is the response with at most the first 64 KiB of its body.
    case contentType(ServiceResponse)

    /// The response that was not an event stream, or `nil` if there was no response.
    public var answer: ServiceResponse? {
        switch self {
        case .request: nil
        case .refused(let answer), .contentType(let answer): answer
        }
    }
}

extension EventSourceFailure: CustomStringConvertible {
    /// The reason for the failure.
    public var description: String {
        switch self {
        case .request(let failure): failure.description
        case .refused(let answer): "the server responded with status \(answer.status)"
        case .contentType(let answer):
            "the content type is \(answer.headers.contentType ?? "missing"): must be text/event-stream"
        }
    }
}

extension NetworkClient {
    /// Receives the events of a server.
    ///
    /// - Parameters:
    ///   - configuration: The request; `Accept`, `Cache-Control` and `Last-Event-ID` are added.
    ///   - options: The options for reconnecting.
    ///   - id: The identifier with which any task can close the source through `cancel(_:)`.
    /// - Returns: The sequence of events. The connection is opened when the first event is requested. The sequence
    ///   supports one iterator at a time.
    public func eventSource(
        _ configuration: APIConfiguration,
        options: EventSource.Options = EventSource.Options(),
        id: RequestID = RequestID()
    ) -> EventSource {
        EventSource(configuration, options, id: id, client: self)
    }
}

extension StreamedResponse.Bytes {
    /// Returns the body as server-sent events.
    ///
    /// There is no reconnection when the body ends.
    ///
    /// - Parameter limit: The maximum size of an event in bytes; 1 MiB unless given.
    /// - Returns: The events.
    public func events(limit: Int = 1 << 20) -> ResponseEvents {
        ResponseEvents(body: body, limit: limit)
    }
}

extension EventSourceFailure: RedactedDescribable {}

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
