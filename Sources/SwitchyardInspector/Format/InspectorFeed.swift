/// The data that a page receives per request: everything that changed since its last request.
///
/// Points in time are milliseconds since 1970; durations are milliseconds. Unknown values are left out. Everything is
/// redacted.
package struct InspectorFeed: Codable, Sendable, Equatable {
    /// The limits on stored data.
    package struct Limits: Codable, Sendable, Equatable {
        /// The maximum number of calls.
        package var calls: Int
        /// The maximum number of body bytes per call in each direction.
        package var bodyBytes: Int
    }

    /// An event of a server.
    package struct Event: Codable, Sendable, Equatable {
        /// The kind of an event.
        package enum Kind: String, Codable, Sendable {
            case `switch`, ejection, probe, recovery, environment, other
        }

        /// The number of the event in order, from 1.
        package var number: Int
        /// The time of the event.
        package var time: Double
        /// The kind of the event.
        package var kind: Kind
        /// The affected server; for a switch, the server that is now preferred.
        package var server: String?
        /// A description of the event.
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

    /// The version of the format; it increases with each incompatible change.
    package var version = 1
    /// The change number to send with the next request.
    package var cursor: Int
    /// The number of calls that were dropped since the start because the limit was reached.
    package var forgotten: Int
    /// The limits on stored data.
    package var limits: Limits
    /// The current state of the client.
    package var client: InspectedClient
    /// The calls that are new or have changed, each complete, in the order of dispatch.
    package var calls: [InspectedCall]
    /// The new events, in order.
    package var events: [Event]
}

/// The state of a client, as shown on the page.
package struct InspectedClient: Codable, Sendable, Equatable {
    /// The state of a server.
    package struct Server: Codable, Sendable, Equatable {
        /// The role of a server at the moment.
        package enum State: String, Codable, Sendable {
            case inUse, standby, ejected, probing
        }

        /// The name of the server.
        package var name: String
        /// The base URL of the server.
        package var url: String
        /// The role of the server at the moment.
        package var state: State
        /// The state and the evidence for it, in one line.
        package var words: String
        /// The number of requests in the statistics window.
        package var calls: Int
        /// The number of failed requests in the statistics window.
        package var failures: Int
        /// The median latency of the server's responses.
        package var latency: Double?
    }

    /// The service's name.
    package var service: String
    /// The environment in use.
    package var environment: String
    /// The environments that all servers have.
    package var environments: [String]
    /// The name of the preferred server.
    package var current: String
    /// Whether the page may send commands.
    package var mayControl: Bool
    /// A description of the simulated fault.
    package var fault: String?
    /// The servers, in order of preference.
    package var servers: [Server]
}
