/// In which order the usable servers are asked.
///
/// Whatever the strategy, a server that is ejected is asked only when no other is left.
public enum SelectionStrategy: String, Sendable, Hashable, CaseIterable {
    /// The first usable server of the list; the others are fallbacks.
    case priority
    /// One after the other.
    case roundRobin
    /// At random, in proportion to ``Server/weight``.
    case weighted
    /// The server with the lowest mean latency; servers without a measurement first, and one request in 32 anywhere, so
    /// that the measurements stay fresh.
    case lowestLatency
    /// The same server for the same ``RequestTraits/sessionKey`` as long as it is usable (rendezvous hashing); requests
    /// without a key go by priority.
    case sticky
}
