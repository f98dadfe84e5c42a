/// Whether a server gets requests.
public enum HealthState: UInt8, Sendable, Hashable, CaseIterable {
    /// It gets them.
    case healthy
    /// It failed; shadow probes find out when it works again.
    case ejected
    /// It works again; a growing number of requests is let through.
    case trial
}
