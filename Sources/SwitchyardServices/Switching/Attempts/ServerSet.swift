/// A set of servers of one core, such as the servers that a request has tried.
///
/// A server is identified by its position in the core's list.
package struct ServerSet: Sendable, Hashable {
    /// The maximum number of servers in a set, and therefore of a service.
    package static let capacity = 64

    private var bits: UInt64 = 0

    /// Creates an empty set.
    package init() {}

    /// Whether the set is empty.
    package var isEmpty: Bool { bits == 0 }

    /// The number of servers in the set.
    package var count: Int { bits.nonzeroBitCount }

    /// Inserts a server; a position outside 0..<64 is ignored.
    package mutating func insert(_ position: Int) {
        bits |= ServerSet.bit(position)
    }

    /// Removes a server.
    package mutating func remove(_ position: Int) {
        bits &= ~ServerSet.bit(position)
    }

    /// Whether the server at a position is in the set.
    package func contains(_ position: Int) -> Bool {
        bits & ServerSet.bit(position) != 0
    }

    /// Returns the servers that are in at least one of the two sets.
    package func union(_ other: ServerSet) -> ServerSet {
        var both = self
        both.bits |= other.bits
        return both
    }

    /// Returns the servers that are in this set and not in the other set.
    package func subtracting(_ other: ServerSet) -> ServerSet {
        var rest = self
        rest.bits &= ~other.bits
        return rest
    }

    /// The servers that are not in the set, including positions without a server.
    package var inverted: ServerSet {
        var others = ServerSet()
        others.bits = ~bits
        return others
    }

    private static func bit(_ position: Int) -> UInt64 {
        (0..<capacity).contains(position) ? 1 &<< UInt64(position) : 0
    }
}

extension ServerSet: ExpressibleByArrayLiteral {
    /// Creates a set of the given positions.
    package init(arrayLiteral elements: Int...) {
        for element in elements { insert(element) }
    }
}
