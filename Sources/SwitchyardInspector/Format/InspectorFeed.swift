/// The response to a feed request of a page: everything that has changed since the last feed request of that page.
///
/// Points in time are milliseconds since 1970, and durations are milliseconds. Unknown values are omitted. All values
/// are redacted.
package struct InspectorFeed: Codable, Sendable, Equatable {
    /// The limits on the data that the inspector keeps.
    package struct Limits: Codable, Sendable, Equatable {
        /// The maximum number of calls that are kept.
        package var calls: Int
        /// The maximum number of body bytes that are kept per call in each direction.
        package var bodyBytes: Int
    }

    /// An event that concerns a server, such as a switch to another server.
    package struct Event: Codable, Sendable, Equatable {
        /// The kind of an event.
        package enum Kind: String, Codable, Sendable {
            case `switch`, ejection, probe, recovery, environment, other
        }

        /// The sequence number of the event, counted from 1 in the order of time.
        package var number: Int
        /// The time of the event.
        package var time: Double
        /// The kind of the event.
        package var kind: Kind
        /// The affected server.
        ///
        /// For a switch, this is the server that is now preferred.
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

    /// The version of the feed format, which increases with each incompatible change.
    package var version = 1
    /// The sequence number of the last change in this feed.
    ///
    /// The page sends it with its next feed request.
    package var cursor: Int
    /// The number of calls that were dropped, since the start of the inspector, because there were too many.
    package var forgotten: Int
    /// The identifier of the inspector, which differs in each run of the app.
    package var session = ""
    /// The verdict on all calls so far, including calls that are no longer kept: how many failed, and why.
    package var verdict = Verdict(level: .none, headline: "No call has ended.")
    /// The limits on the data that the inspector keeps.
    package var limits: Limits
    /// The current state of the client.
    package var client: InspectedClient
    /// The calls that are new or have changed, in the order of dispatch.
    ///
    /// The feed contains each of these calls completely, not only its changes.
    package var calls: [InspectedCall]
    /// The new events, in order.
    package var events: [Event]
}

/// The state of a client, as shown on the page.
package struct InspectedClient: Codable, Sendable, Equatable {
    /// The state of a server.
    package struct Server: Codable, Sendable, Equatable {
        /// The state of a server: preferred, healthy but not preferred, out of service, or on trial.
        package enum State: String, Codable, Sendable {
            case inUse, standby, ejected, probing
        }

        /// The name of the server.
        package var name: String
        /// The base URL of the server.
        package var url: String
        /// The current state of the server.
        package var state: State
        /// A description of the state on one line, with the numbers that explain it.
        package var words: String
        /// The time at which a server that is out of service first failed; missing for every other server.
        package var since: Double?
    }

    /// The service's name.
    package var service: String
    /// The current environment of the client.
    package var environment: String
    /// The environments for which every server has a URL.
    package var environments: [String]
    /// The name of the preferred server.
    package var current: String
    /// Whether the page may send commands.
    package var mayControl: Bool
    /// A description of the simulated fault; missing if no fault is active.
    package var fault: String?
    /// The servers, in order of preference.
    package var servers: [Server]
}
