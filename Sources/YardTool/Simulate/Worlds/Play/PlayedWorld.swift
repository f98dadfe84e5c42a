import Switchyard

/// The results of a world (a random scenario, ``World``) after a run.
struct PlayedWorld: Sendable {
    var world: World
    var calls: [PlayedCall]
    var record: TrafficRecord
    /// The number of changes of the preferred server.
    var switches: Int
}
