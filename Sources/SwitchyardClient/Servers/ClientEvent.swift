public import SwitchyardServices

/// An event of a client's servers: a switch, an ejection (a server is taken out of use for a time), a probe, a
/// recovery, or a new environment.
public struct ClientEvent: Sendable, Hashable {
    /// The environment of the servers.
    public var environment: ServiceEnvironment
    /// The event with its cause, and the statistics that led to it.
    public var event: SwitchEvent

    /// Creates an event.
    package init(environment: ServiceEnvironment, event: SwitchEvent) {
        self.environment = environment
        self.event = event
    }
}

extension ClientEvent: CustomStringConvertible {
    /// One line: the environment and the event.
    public var description: String { "\(environment): \(event)" }
}
