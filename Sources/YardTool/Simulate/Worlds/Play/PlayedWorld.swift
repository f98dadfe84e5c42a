import Switchyard

/// The results of a world.
struct PlayedWorld: Sendable {
    var world: World
    var calls: [PlayedCall]
    var record: TrafficRecord
    /// The number of changes of the preferred server.
    var switches: Int
}
