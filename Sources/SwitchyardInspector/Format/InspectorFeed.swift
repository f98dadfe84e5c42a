/// What the page is told at a time: what is new since it asked last.
///
/// Points in time are milliseconds since 1970, durations milliseconds. What is not known is left out. Everything is
/// redacted.
package struct InspectorFeed: Codable, Sendable, Equatable {
    /// How much is kept.
    package struct Limits: Codable, Sendable, Equatable {
        /// Calls.
        package var calls: Int
        /// Bytes of the bodies of a call, in each direction.
        package var bodyBytes: Int
    }

    /// Something that happened to a server.
    package struct Event: Codable, Sendable, Equatable {
        /// What kind of thing happened.
        package enum Kind: String, Codable, Sendable {
            case `switch`, ejection, probe, recovery, environment, other
        }

        /// Its place in the order of events, from 1.
        package var number: Int
        /// When it happened.
        package var time: Double
        /// What kind of thing happened.
        package var kind: Kind
        /// The server that it happened to; of a switch the one that is preferred now.
        package var server: String?
        /// What happened, in words.
        package var text: String

        /// Creates an event.
        package init(number: Int, time: Double, kind: Kind, server: String?, text: String) {
            self.number = number
            self.time = time
            self.kind = kind
            self.server = server
            self.text = text
        }
    }

    /// The version of the format; it grows when a reader of the one before would go wrong.
    package var version = 1
    /// What to ask with next time.
    package var cursor: Int
    /// How many calls were dropped since the start because there was no more room.
    package var forgotten: Int
    /// How much is kept.
    package var limits: Limits
    /// The client, as it is now.
    package var client: InspectedClient
    /// The calls that are new or have changed, each whole, in the order of their dispatch.
    package var calls: [InspectedCall]
    /// The events that are new, in order.
    package var events: [Event]
}

/// A client as the page shows it.
package struct InspectedClient: Codable, Sendable, Equatable {
    /// One of its servers.
    package struct Server: Codable, Sendable, Equatable {
        /// What a server is there for at the moment.
        package enum State: String, Codable, Sendable {
            case inUse, standby, ejected, probing
        }

        /// Its name.
        package var name: String
        /// Its base URL.
        package var url: String
        /// What it is there for.
        package var state: State
        /// The state and the evidence for it, in one line.
        package var words: String
        /// The requests in the window of its figures.
        package var calls: Int
        /// The failures among them.
        package var failures: Int
        /// The median of its answers' latencies.
        package var latency: Double?
    }

    /// The service's name.
    package var service: String
    /// The environment in use.
    package var environment: String
    /// The environments that can be entered.
    package var environments: [String]
    /// The server that is preferred.
    package var current: String
    /// Whether commands are taken.
    package var mayControl: Bool
    /// The fault that is simulated, in words.
    package var fault: String?
    /// The servers, in order of preference.
    package var servers: [Server]
}
