import Switchyard

/// A world that was played, with all that came of it.
struct PlayedWorld: Sendable {
    var world: World
    var calls: [PlayedCall]
    var record: TrafficRecord
    /// How often another server became the preferred one.
    var switches: Int
}
