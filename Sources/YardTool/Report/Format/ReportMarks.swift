/// A period in which a server was faulty.
struct ReportFault: Codable, Sendable, Equatable {
    var server: Int
    var from: Double
    /// The end of the fault, or `nil` if the fault had not ended at the end of the report.
    var until: Double?
    /// A description of the fault, such as `was killed`.
    var what: String
    /// Whether the tool injected the fault and recorded it.
    ///
    /// If `false`, the fault is derived from the results of the calls.
    var isKnown: Bool
    /// Whether the server was out of service only because it was slow, or `nil` if it failed.
    var isSlow: Bool?
    /// `true` if no request was sent to the server after the end of the fault, so that the end is not confirmed;
    /// otherwise `nil`.
    var isUntried: Bool?

    /// Whether the server is known to work again.
    var isOver: Bool { until != nil && isUntried != true }
}

/// An event of the servers.
struct ReportMark: Codable, Sendable, Equatable {
    /// The kind of event.
    enum Kind: String, Codable, Sendable {
        /// The recorded start or end of a fault.
        case fault, faultEnd
        /// A server was ejected (taken out of use for a time) and receives no more calls.
        case ejected
        /// The client prefers another server.
        case switched
        /// A probe of an ejected server succeeded or failed.
        ///
        /// A probe is a copy of a read request; its response is discarded.
        case probe
        /// An ejected server has responded to its probes, and receives a few calls as a trial.
        case trial
        /// A server has recovered.
        case recovered
        /// Another event: a change of the environment, or a command that was pushed to the client.
        case note
    }

    var at: Double
    var kind: Kind
    /// The affected server.
    ///
    /// For a switch, the previous server.
    var server: Int?
    /// The new server of a switch, or `nil` for other events.
    var to: Int?
    /// Whether a probe succeeded, or `nil` for other events.
    var isGood: Bool?
    /// Whether a switch is a return to a server that has recovered, or `nil` for other events.
    var isReturn: Bool?
    /// A description of the event and its cause.
    var text: String
}

/// The state of a server during a period.
struct ReportState: Codable, Sendable, Equatable {
    /// The kinds of server states in a report.
    enum Kind: String, Codable, Sendable {
        /// Healthy and preferred.
        case inUse
        /// Healthy but not preferred.
        case standby
        /// The server is ejected: out of use for a time.
        case out
        /// Ejected, but the server responds to probes and receives a few calls as a trial.
        case probing
        /// Calls fail at the server, but it is not ejected (taken out of use).
        case failing
    }

    var server: Int
    var from: Double
    var until: Double
    var state: Kind
}
