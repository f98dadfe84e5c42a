package import SwitchyardClient

/// A call from its dispatch to its end, in the form in which the page shows it.
package struct InspectedCall: Codable, Sendable, Equatable {
    /// The result of a call: a response or a failure.
    package struct Outcome: Codable, Sendable, Equatable {
        /// The status of the response.
        ///
        /// If the call failed, the status of the last response; missing if there was no response.
        package var status: Int?
        /// The one-word name of the failure; missing if the call did not fail.
        package var error: String?
        /// The description of the failure in one sentence; missing if the call did not fail.
        package var words: String?
        /// Whether the call failed because of its own request and not because of a server, as with status 404.
        ///
        /// The value is missing otherwise.
        package private(set) var isRequestError: Bool?

        /// Creates an outcome.
        package init(status: Int? = nil, error: String? = nil, words: String? = nil) {
            self.status = status
            self.error = error
            self.words = words
            let isFailure = !isCancelled && kind.map { !VerdictText.blamesServer($0) } ?? false
            isRequestError = isFailure ? true : nil
        }
    }

    /// A period in which a call waited and had no active request.
    package struct Wait: Codable, Sendable, Equatable {
        /// The start of the wait, in milliseconds since 1970.
        package var start: Double
        /// The end of the wait, in milliseconds since 1970.
        ///
        /// While the call waits, this is the planned end.
        package var end: Double
        /// The reason for the wait.
        package var why: String
    }

    /// The source of a response.
    package enum Source: String, Codable, Sendable {
        case network
        case cache
        /// The cache, which returned a stale response.
        case stale = "stale cache"
    }

    /// The identifier of the call, which is part of the URL of its details.
    package var id: String
    /// The sequence number of the call, counted from 1 in the order of dispatch.
    package var number: Int
    /// The time at which the call was dispatched, in milliseconds since 1970.
    package var start: Double
    /// The time at which the call ended, in milliseconds since 1970; missing while the call is active.
    package var end: Double?
    /// The HTTP method.
    package var method: String
    /// The path or the URL, as the app gave it.
    package var path: String
    /// The tags, in alphabetical order.
    package var tags: [String] = []
    /// The source of the response; missing until there is a response.
    package var from: Source?
    /// The number of rounds so far.
    ///
    /// A round is one try at the request with its failovers and hedges. Each retry starts another round.
    package var rounds = 1
    /// The result of the call; missing while the call is active.
    package var outcome: Outcome?
    /// Whether the call failed although a server may have processed its request, such as a POST.
    ///
    /// The value is missing otherwise.
    package var mayHaveBeenExecuted: Bool?
    /// The attempts, in order.
    package var attempts: [InspectedAttempt] = []
    /// The periods in which the call waited and had no active request.
    package var waits: [Wait] = []
    /// The messages of the event stream or the WebSocket that the call has opened; missing for another call.
    package var stream: InspectedStream?

    /// Creates a call that is active.
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
    package typealias Kind = CallAttempt.Kind

    /// A redirect that was followed.
    package struct Redirect: Codable, Sendable, Equatable {
        /// The time at which the redirect response arrived.
        package var time: Double
        /// The status of the redirect response.
        package var status: Int
        /// The URL whose response was the redirect.
        package var from: String
        /// The target URL of the redirect.
        package var to: String
    }

    /// A phase of an attempt, such as DNS lookup or waiting for the response.
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
        case number, round, server, method, url, start, end, kind, next, isCut, status, error, redirects, phases, reused
        case sent, received, type
        case version = "protocol"
    }

    /// The position of the attempt in its ``round``, counted from 1.
    ///
    /// A round is one try at the request. Each retry starts another round.
    package var number: Int
    /// The round that the attempt belongs to, counted from 1 (``InspectedCall/rounds``).
    package var round: Int
    /// The server's name; missing if the URL does not belong to a server of the service.
    package var server: String?
    /// The HTTP method.
    package var method: String
    /// The requested URL, or the last URL after redirects.
    package var url: String
    /// The start of the attempt.
    package var start: Double
    /// The end of the attempt; missing while the attempt is active, and if the attempt was cut off.
    package var end: Double?
    /// The reason for the attempt.
    package var kind: Kind
    /// The event that followed the attempt, such as `next server` or `no server left`; missing if nothing followed.
    package var next: String?
    /// Whether the attempt was cut off because another attempt received a response or the call ended; missing if not.
    package var isCut: Bool?
    /// The status of the response.
    package var status: Int?
    /// The one-word name of the error, if there was no response.
    package var error: String?
    /// The redirects that were followed, in order.
    package var redirects: [Redirect] = []
    /// The phases whose times are known, in order.
    package var phases: [Phase] = []
    /// Whether the attempt reused an open connection; missing if unknown.
    package var reused: Bool?
    /// The HTTP version; missing if unknown.
    package var version: String?
    /// The number of body bytes sent.
    package var sent: Int64?
    /// The number of body bytes received, before decompression.
    package var received: Int64?
    /// The media type of the response without parameters; missing if unknown.
    package var type: String?

    /// Creates an attempt that is active.
    package init(number: Int, round: Int, method: String, url: String, start: Double, kind: Kind) {
        self.number = number
        self.round = round
        self.method = method
        self.url = url
        self.start = start
        self.kind = kind
    }
}
