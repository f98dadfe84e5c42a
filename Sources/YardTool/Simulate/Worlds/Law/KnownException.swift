import Switchyard

/// A class of violations that is known and accepted, with its reason and its bound.
struct KnownException: Sendable {
    /// What it is called in reports.
    let name: String
    /// Why it is accepted.
    let reason: String
    /// How often it may happen: violations in 100,000 calls.
    let mostPer100000Calls: Double
    /// Whether a violation in a world is one of these.
    let covers: @Sendable (Violation, World) -> Bool

    /// All of them; what is in none of these is a fault.
    static let all: [KnownException] = []

    /// The exception that a violation is one of.
    static func covering(_ violation: Violation, in world: World) -> KnownException? {
        all.first { $0.covers(violation, world) }
    }
}
