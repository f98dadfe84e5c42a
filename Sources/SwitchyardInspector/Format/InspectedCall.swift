/// A call as the page shows it, from its dispatch to its end.
package struct InspectedCall: Codable, Sendable, Equatable {
    /// How a call ended.
    package struct Outcome: Codable, Sendable, Equatable {
        /// The status of the answer, of a failure that of the last one that came.
        package var status: Int?
        /// Why there is no answer, in one word.
        package var error: String?
        /// The same in a sentence.
        package var words: String?

        /// Creates an outcome.
        package init(status: Int? = nil, error: String? = nil, words: String? = nil) {
            self.status = status
            self.error = error
            self.words = words
        }
    }

    /// A time in which a call had nothing under way.
    package struct Wait: Codable, Sendable, Equatable {
        /// When it began.
        package var start: Double
        /// When it ended, or was to end.
        package var end: Double
        /// What was waited for.
        package var why: String
    }

    /// Where an answer comes from.
    package enum Source: String, Codable, Sendable {
        case network
        case cache
        /// A cache, whose answer had been kept longer than it is fresh.
        case stale = "stale cache"
    }

    /// Its name, for the address of its details.
    package var id: String
    /// Its place in the order of dispatch, from 1.
    package var number: Int
    /// When it was dispatched.
    package var start: Double
    /// When it ended; missing while it runs.
    package var end: Double?
    /// The method.
    package var method: String
    /// The path as the call gave it, or the URL.
    package var path: String
    /// Its tags, in alphabetical order.
    package var tags: [String] = []
    /// Where the answer comes from; missing while there is none.
    package var from: Source?
    /// How many rounds it took so far.
    package var rounds = 1
    /// How it ended; missing while it runs.
    package var outcome: Outcome?
    /// Whether a write that failed may have been executed; missing unless it is so.
    package var mayHaveBeenExecuted: Bool?
    /// Its attempts, in order.
    package var attempts: [InspectedAttempt] = []
    /// When it waited.
    package var waits: [Wait] = []

    /// Creates a call that runs.
    package init(number: Int, start: Double, method: String, path: String) {
        id = "\(number)"
        self.number = number
        self.start = start
        self.method = method
        self.path = path
    }
}

/// One request to one server, with the redirects that it followed.
package struct InspectedAttempt: Codable, Sendable, Equatable {
    /// Why an attempt was made.
    package enum Kind: String, Codable, Sendable {
        /// It is the first one of the call.
        case first
        /// The one before failed.
        case failover
        /// Another one took longer than usual, and went on.
        case hedge
        /// The round before was not what the call wanted.
        case retry
        /// The credential of the round before was refused.
        case renewal
    }

    /// A redirect that was followed.
    package struct Redirect: Codable, Sendable, Equatable {
        /// When it came.
        package var time: Double
        /// Its status.
        package var status: Int
        /// The URL that answered.
        package var from: String
        /// The URL that was asked next.
        package var to: String
    }

    /// A part of the time that an attempt took.
    package struct Phase: Codable, Sendable, Equatable {
        /// What was done.
        package enum Name: String, Codable, Sendable {
            case lookup, connect, tls, send, wait, receive
        }

        /// What was done.
        package var name: Name
        /// When it began.
        package var start: Double
        /// When it ended.
        package var end: Double
    }

    private enum CodingKeys: String, CodingKey {
        case number, round, server, method, url, start, end, kind, isCut, status, error, redirects, phases, reused
        case sent, received
        case version = "protocol"
    }

    /// Its number in the round, from 1.
    package var number: Int
    /// The round, from 1.
    package var round: Int
    /// The server's name; missing for a URL that is none of the service's.
    package var server: String?
    /// The method.
    package var method: String
    /// The URL; behind redirects the last one.
    package var url: String
    /// When it began.
    package var start: Double
    /// When it ended; missing while it runs, and of one that was cut off.
    package var end: Double?
    /// Why it was made.
    package var kind: Kind
    /// Whether it was cut off, because another one answered or the call ended; missing unless it was.
    package var isCut: Bool?
    /// The status of its answer.
    package var status: Int?
    /// Why none came, in one word.
    package var error: String?
    /// The redirects that it followed, in order.
    package var redirects: [Redirect] = []
    /// Where its time went, as far as that is known, in order.
    package var phases: [Phase] = []
    /// Whether it went over a connection that stood.
    package var reused: Bool?
    /// The version of HTTP.
    package var version: String?
    /// Bytes of the body that were sent.
    package var sent: Int64?
    /// Bytes of the body that came, as on the wire.
    package var received: Int64?

    /// Creates an attempt that runs.
    package init(number: Int, round: Int, method: String, url: String, start: Double, kind: Kind) {
        self.number = number
        self.round = round
        self.method = method
        self.url = url
        self.start = start
        self.kind = kind
    }
}
