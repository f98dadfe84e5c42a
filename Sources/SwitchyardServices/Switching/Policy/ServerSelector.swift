/// A closure of the app that limits the servers that an attempt may use.
///
/// The closure gets the snapshots of the candidates in the order of the list. The candidates are the servers that serve
/// the request, are healthy, and have not received the request yet. The closure returns the names of the servers that
/// it wants. The policy's selection then chooses among them. An empty result, and a result without a candidate, has no
/// effect: the selector never prevents a request.
///
/// The closure is called for every attempt, on any thread and without a lock, so it must be quick. It is not called for
/// probes, for the requests of a call that names its server, and if there are fewer than two candidates.
///
/// ### Use
///
///     var policy = SwitchPolicy.recommended
///     policy.selector = ServerSelector { candidates in
///         candidates.filter { $0.statistics.share == 1 }.map(\.id)
///     }
public struct ServerSelector: Sendable, Hashable {
    /// A closure that receives the snapshots of the candidates, and returns the names of the wanted servers.
    public typealias Select = @Sendable (_ candidates: [ServerSnapshot]) -> [Server.ID]

    private final class Box: Sendable {
        let select: Select

        init(_ select: @escaping Select) { self.select = select }
    }

    private let box: Box

    /// Creates a selector.
    public init(_ select: @escaping Select) {
        box = Box(select)
    }

    /// Returns the names of the wanted servers.
    package func callAsFunction(_ candidates: [ServerSnapshot]) -> [Server.ID] { box.select(candidates) }

    /// Whether one value is a copy of the other, because closures cannot be compared.
    public static func == (left: ServerSelector, right: ServerSelector) -> Bool { left.box === right.box }

    /// Hashes the identity of the closure.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }
}
