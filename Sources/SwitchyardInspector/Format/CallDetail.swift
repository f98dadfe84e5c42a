/// The requests and responses of a call, attempt by attempt.
package struct CallDetail: Codable, Sendable, Equatable {
    /// The request and the response of one attempt.
    package struct Attempt: Codable, Sendable, Equatable {
        /// The position of the attempt in its ``round``, counted from 1.
        ///
        /// A round is one try at the request. Each retry starts another round.
        package var number: Int
        /// The round that the attempt belongs to, counted from 1.
        ///
        /// A round is one try at the request with its failovers and hedges. Each retry starts another round.
        package var round: Int
        /// The request as a curl command; missing if the request body was not stored completely.
        package var curl: String?
        /// The first request of the attempt.
        package var request: Message
        /// The last response of the attempt; missing if there was no response.
        package var response: Message?
    }

    /// A request or a response.
    package struct Message: Codable, Sendable, Equatable {
        /// The method and the URL of a request, or the HTTP version and the status of a response.
        package var line: String
        /// The header fields in order, each as a name and a value.
        package var fields: [[String]]
        /// The body.
        package var body: Body
    }

    /// A body, or its beginning.
    package struct Body: Codable, Sendable, Equatable {
        /// The content type.
        package var type: String?
        /// The full length of the body in bytes.
        package var bytes: Int?
        /// The stored part of the body, if it is text.
        package var text: String?
        /// The stored part of the body in base64, if it is not text.
        package var base64: String?
        /// Whether the stored part is incomplete; missing if it is complete.
        package var isCut: Bool?
        /// The reason why the body is not available; missing if it is available.
        package var note: String?
    }

    /// The call.
    package var call: InspectedCall
    /// The attempts, in order.
    package var attempts: [Attempt]
    /// The newest messages of the event stream or the WebSocket that the call has opened, in order of time; missing for
    /// another call.
    package var messages: [InspectedMessage]?

    /// Creates the details of a call.
    package init(call: InspectedCall, attempts: [Attempt] = [], messages: [InspectedMessage]? = nil) {
        self.call = call
        self.attempts = attempts
        self.messages = messages
    }
}

/// All recorded data, embedded in a page that works without a running inspector.
package struct InspectorRecord: Codable, Sendable, Equatable {
    /// The parts of an imported file that the page cannot show as they were recorded: their number, and the first
    /// problem.
    package struct LeftOut: Codable, Sendable, Equatable {
        /// The number of parts.
        package var count: Int
        /// A description of the first part and its problem.
        package var first: String

        /// The number of parts and the first problem in one line.
        package var words: String { "items not shown as recorded: \(count) (first problem: \(first))" }
    }

    /// The version of the format.
    package var version = 1
    /// The name of the record, which is the name of its source file.
    package var name: String
    /// The calls and the events.
    package var feed: InspectorFeed
    /// The details of the calls by call identifier.
    package var details: [String: CallDetail]
    /// The parts of the imported file that are not shown as recorded; missing if there are none.
    package var leftOut: LeftOut?
}
