import Foundation
public import SwitchyardClient
import SwitchyardHTTP

/// The server-sent events of one ``/SwitchyardClient/StreamedResponse``.
///
/// An incomplete event at the end is discarded.
public struct ResponseEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// The failure that ends the sequence early.
    public typealias Failure = RequestFailure

    let body: LiveBody
    let limit: Int

    /// Creates an iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: EventReader(body, EventParser(), limit: limit))
    }

    /// An iterator over the events of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: EventReader

        /// Returns the next event, or `nil` at the end.
        ///
        /// - Throws: `RequestFailure` if the body is interrupted, the transfer was cancelled, or an event is too large.
        public mutating func next() async throws(RequestFailure) -> ServerSentEvent? {
            try await reader.next()
        }

        /// Returns the next event, or `nil` at the end; the `actor` parameter is ignored.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> ServerSentEvent? {
            try await reader.next()
        }
    }
}

/// A reader of the events of one body.
struct EventReader {
    private(set) var parser: EventParser
    /// Whether a line has arrived, including comment lines.
    private(set) var hasLines = false
    private let body: LiveBody
    /// The reporter of the events, or `nil` if no observer receives them.
    private let reporter: MessageReporter?
    private let limit: Int
    private var splitter: LineSplitter

    init(_ body: LiveBody, _ parser: EventParser, limit: Int) {
        self.body = body
        reporter = body.messageReporter()
        self.parser = parser
        self.limit = limit
        splitter = LineSplitter(.any, limit: limit)
    }

    mutating func next() async throws(RequestFailure) -> ServerSentEvent? {
        try body.checkOwner()
        while true {
            if let event = try takeLines() {
                reporter?.report(event)
                return event
            }
            guard let piece = try await body.next() else {
                reporter?.end()
                return nil
            }
            splitter.append(piece)
        }
    }

    private mutating func takeLines() throws(RequestFailure) -> ServerSentEvent? {
        do throws(TransportError) {
            while let line = try splitter.next() {
                hasLines = true
                if let event = parser.take(line) { return event }
                guard parser.size <= limit else {
                    throw TransportError(.bodyTooLarge, message: "an event is larger than \(limit) bytes")
                }
            }
            return nil
        } catch {
            throw body.refuse(error)
        }
    }
}

extension MessageReporter {
    /// Reports an event that has been received now.
    fileprivate func report(_ event: ServerSentEvent) {
        report(StreamMessage(.received, type: event.type, text: event.data), at: now)
    }
}
