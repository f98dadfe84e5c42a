/// A time in which a server was not well.
struct ReportFault: Codable, Sendable, Equatable {
    var server: Int
    var from: Double
    /// `nil` when it was not over at the end of the report.
    var until: Double?
    /// What the server did or what was done to it, such as `was killed`.
    var what: String
    /// Whether whoever made the fault says so; otherwise it is what the client saw of it.
    var isKnown: Bool
}

/// Something that happened to the servers.
struct ReportMark: Codable, Sendable, Equatable {
    /// What it is.
    enum Kind: String, Codable, Sendable {
        /// A fault begins or ends, as whoever made it says.
        case fault, faultEnd
        /// A server gets no more calls.
        case ejected
        /// Another server is preferred.
        case switched
        /// A shadow copy of a read came back from a server that is out of service, or did not.
        case probe
        /// A server has answered its probes and will be tried with calls.
        case trial
        /// A server is well again.
        case recovered
        /// Something else: another environment, a pushed command.
        case note
    }

    var at: Double
    var kind: Kind
    /// The server that it happened to; the one switched from.
    var server: Int?
    /// The server switched to.
    var to: Int?
    /// Whether a probe was answered.
    var isGood: Bool?
    /// What happened and why, in words.
    var text: String
}

/// What a server was for some time.
struct ReportState: Codable, Sendable, Equatable {
    /// What it was.
    enum Kind: String, Codable, Sendable {
        /// Well, and preferred.
        case inUse
        /// Well, and behind the one in use.
        case standby
        /// Out of service.
        case out
        /// Out of service still, but it answers probes, and is tried with a few calls.
        case probing
    }

    var server: Int
    var from: Double
    var until: Double
    var state: Kind
}
