/// A period in which a server was faulty.
struct ReportFault: Codable, Sendable, Equatable {
    var server: Int
    var from: Double
    /// The end of the fault, or `nil` if it was not over at the end of the report.
    var until: Double?
    /// A description of the fault, such as `was killed`.
    var what: String
    /// Whether the tool that caused the fault recorded it; otherwise, the fault is derived from the client's
    /// observations.
    var isKnown: Bool
}

/// An event of the servers.
struct ReportMark: Codable, Sendable, Equatable {
    /// The kind of event.
    enum Kind: String, Codable, Sendable {
        /// The recorded start or end of a fault.
        case fault, faultEnd
        /// A server receives no more calls.
        case ejected
        /// Another server is preferred.
        case switched
        /// The result of a probe, which is a shadow copy of a read, on an ejected server.
        case probe
        /// A server has responded to its probes and will receive trial calls.
        case trial
        /// A server has recovered.
        case recovered
        /// Another event: a different environment or a pushed command.
        case note
    }

    var at: Double
    var kind: Kind
    /// The affected server, or the old server of a switch.
    var server: Int?
    /// The new server of a switch.
    var to: Int?
    /// Whether a probe succeeded.
    var isGood: Bool?
    /// A description of the event and its cause.
    var text: String
}

/// The state of a server during a period.
struct ReportState: Codable, Sendable, Equatable {
    /// The kind of state.
    enum Kind: String, Codable, Sendable {
        /// Healthy and preferred.
        case inUse
        /// Healthy but not preferred.
        case standby
        /// Ejected.
        case out
        /// Ejected, but responding to probes and receiving a few trial calls.
        case probing
    }

    var server: Int
    var from: Double
    var until: Double
    var state: Kind
}
