/// A call as the page shows it, from its dispatch to its end.
package struct InspectedCall: Codable, Sendable, Equatable {
    /// The outcome of a call.
    package struct Outcome: Codable, Sendable, Equatable {
        /// The status of the response; if the call failed, the status of the last response, if any.
        package var status: Int?
        /// The one-word name of the failure, if the call failed.
        package var error: String?
        /// The description of the failure in a sentence.
        package var words: String?

        /// Creates an outcome.
        package init(status: Int? = nil, error: String? = nil, words: String? = nil) {
            self.status = status
            self.error = error
            self.words = words
        }
    }

    /// A period in which a call had no running request.
    package struct Wait: Codable, Sendable, Equatable {
        /// The start of the wait.
        package var start: Double
        /// The actual or planned end of the wait.
        package var end: Double
        /// The reason for the wait.
        package var why: String
    }

    /// The source of a response.
    package enum Source: String, Codable, Sendable {
        case network
        case cache
        /// A cache that returned a stale response.
        case stale = "stale cache"
    }

    /// The identifier of the call, used in the URL of its details.
    package var id: String
    /// The number of the call in the order of dispatch, from 1.
    package var number: Int
    /// The time at which the call was dispatched.
    package var start: Double
    /// The end of the call; missing while the call runs.
    package var end: Double?
    /// The method.
    package var method: String
    /// The path as the caller gave it, or the URL.
    package var path: String
    /// The tags, in alphabetical order.
    package var tags: [String] = []
    /// The source of the response; missing until there is a response.
    package var from: Source?
    /// The number of rounds so far.
    package var rounds = 1
    /// The outcome of the call; missing while the call runs.
    package var outcome: Outcome?
    /// Whether a failed write may have been executed; missing if not.
    package var mayHaveBeenExecuted: Bool?
    /// The attempts, in order.
    package var attempts: [InspectedAttempt] = []
    /// The waits of the call.
    package var waits: [Wait] = []

    /// Creates a running call.
    package init(number: Int, start: Double, method: String, path: String) {
        id = "\(number)"
        self.number = number
        self.start = start
        self.method = method
        self.path = path
    }
}

/// One request to one server, including the redirects that were followed.
package struct InspectedAttempt: Codable, Sendable, Equatable {
    /// The reason for an attempt.
    package enum Kind: String, Codable, Sendable {
        /// The attempt is the first one of the call.
        case first
        /// The previous attempt failed.
        case failover
        /// Another attempt took longer than usual and was still running.
        case hedge
        /// The result of the previous round required a retry.
        case retry
        /// The server rejected the credential of the previous round.
        case refresh
    }

    /// A redirect that was followed.
    package struct Redirect: Codable, Sendable, Equatable {
        /// The time at which the redirect response arrived.
        package var time: Double
        /// The status of the redirect response.
        package var status: Int
        /// The URL that returned the redirect.
        package var from: String
        /// The target URL of the redirect.
        package var to: String
    }

    /// A phase of an attempt.
    package struct Phase: Codable, Sendable, Equatable {
        /// The kind of phase.
        package enum Name: String, Codable, Sendable {
            case lookup, connect, tls, send, wait, receive
        }

        /// The kind of phase.
        package var name: Name
        /// The start of the phase.
        package var start: Double
        /// The end of the phase.
        package var end: Double
    }

    private enum CodingKeys: String, CodingKey {
        case number, round, server, method, url, start, end, kind, isCut, status, error, redirects, phases, reused
        case sent, received
        case version = "protocol"
    }

    /// The number of the attempt in its round, from 1.
    package var number: Int
    /// The number of the round, from 1.
    package var round: Int
    /// The server's name; missing if the URL belongs to no server of the service.
    package var server: String?
    /// The method.
    package var method: String
    /// The URL; after redirects, the last URL.
    package var url: String
    /// The start of the attempt.
    package var start: Double
    /// The end of the attempt; missing while the attempt runs, and if it was cut off.
    package var end: Double?
    /// The reason for the attempt.
    package var kind: Kind
    /// Whether the attempt was cut off because another one received a response or the call ended; missing if not.
    package var isCut: Bool?
    /// The status of the response.
    package var status: Int?
    /// The one-word name of the error, if there was no response.
    package var error: String?
    /// The redirects that were followed, in order.
    package var redirects: [Redirect] = []
    /// The known phases, in order.
    package var phases: [Phase] = []
    /// Whether the attempt reused a connection.
    package var reused: Bool?
    /// The version of HTTP.
    package var version: String?
    /// The number of body bytes sent.
    package var sent: Int64?
    /// The number of body bytes received, as transferred.
    package var received: Int64?

    /// Creates a running attempt.
    package init(number: Int, round: Int, method: String, url: String, start: Double, kind: Kind) {
        self.number = number
        self.round = round
        self.method = method
        self.url = url
        self.start = start
        self.kind = kind
    }
}
