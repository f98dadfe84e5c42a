/// What a call sent and got, attempt by attempt.
package struct CallDetail: Codable, Sendable, Equatable {
    /// What one attempt sent and got.
    package struct Attempt: Codable, Sendable, Equatable {
        /// Its number in the round.
        package var number: Int
        /// The round.
        package var round: Int
        /// The request as a command for curl; missing where there is none, as for a body that is not kept whole.
        package var curl: String?
        /// What it sent first.
        package var request: Message
        /// What it got last; missing when nothing came.
        package var response: Message?
    }

    /// A request or a response.
    package struct Message: Codable, Sendable, Equatable {
        /// The method and the URL, or the version and the status.
        package var line: String
        /// The header fields in order, each a name and a value.
        package var fields: [[String]]
        /// The body.
        package var body: Body
    }

    /// A body, or its beginning.
    package struct Body: Codable, Sendable, Equatable {
        /// The content type.
        package var type: String?
        /// Its whole length.
        package var bytes: Int?
        /// What is kept of it, when that is text.
        package var text: String?
        /// The same when it is none.
        package var base64: String?
        /// Whether there was more than is kept; missing unless there was.
        package var isCut: Bool?
        /// Why it is not here.
        package var note: String?
    }

    /// The call.
    package var call: InspectedCall
    /// Its attempts, in order.
    package var attempts: [Attempt]

    /// Creates the details of a call.
    package init(call: InspectedCall, attempts: [Attempt] = []) {
        self.call = call
        self.attempts = attempts
    }
}

/// All that was recorded, for a page that needs nobody to ask.
package struct InspectorRecord: Codable, Sendable, Equatable {
    /// What a file has that is not shown, or not as it is there.
    package struct LeftOut: Codable, Sendable, Equatable {
        /// How many parts that are.
        package var count: Int
        /// The first of them, and what is wrong with it.
        package var first: String

        /// Both in a line.
        package var words: String { "\(count) not shown as recorded, the first: \(first)" }
    }

    /// The version of the format.
    package var version = 1
    /// What it is called: the file that it was made of.
    package var name: String
    /// The calls and the events.
    package var feed: InspectorFeed
    /// The details of the calls, by their names.
    package var details: [String: CallDetail]
    /// What is not shown; missing unless there is something.
    package var leftOut: LeftOut?
}
