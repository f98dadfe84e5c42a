/// A set of servers of one core, by their positions in its list: the ones that a request has tried.
package struct ServerSet: Sendable, Hashable {
    /// The maximum number of servers of a set, and therefore of a core.
    package static let capacity = 64

    private var bits: UInt64 = 0

    /// Creates an empty set.
    package init() {}

    /// Whether nothing is in the set.
    package var isEmpty: Bool { bits == 0 }

    /// The number of servers in the set.
    package var count: Int { bits.nonzeroBitCount }

    /// Puts a server into the set; a position that no list can have is ignored.
    package mutating func insert(_ position: Int) {
        bits |= ServerSet.bit(position)
    }

    /// Takes a server out of the set.
    package mutating func remove(_ position: Int) {
        bits &= ~ServerSet.bit(position)
    }

    /// Whether the server is in the set.
    package func contains(_ position: Int) -> Bool {
        bits & ServerSet.bit(position) != 0
    }

    /// The servers that are in either set.
    package func union(_ other: ServerSet) -> ServerSet {
        var both = self
        both.bits |= other.bits
        return both
    }

    private static func bit(_ position: Int) -> UInt64 {
        (0..<capacity).contains(position) ? 1 &<< UInt64(position) : 0
    }
}

extension ServerSet: ExpressibleByArrayLiteral {
    /// Creates a set of these positions.
    package init(arrayLiteral elements: Int...) {
        for element in elements { insert(element) }
    }
}
