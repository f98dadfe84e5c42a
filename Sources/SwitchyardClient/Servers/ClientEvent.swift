public import SwitchyardServices

/// Something that happened to the servers of a client: a switch, an ejection, a probe, a recovery, a new environment.
public struct ClientEvent: Sendable, Hashable {
    /// The environment whose servers it concerns.
    public var environment: ServiceEnvironment
    /// What happened, why, and the figures that led to it.
    public var event: SwitchEvent

    /// Creates an event.
    public init(environment: ServiceEnvironment, event: SwitchEvent) {
        self.environment = environment
        self.event = event
    }
}

extension ClientEvent: CustomStringConvertible {
    /// One line: the environment and what happened.
    public var description: String { "\(environment): \(event)" }
}
