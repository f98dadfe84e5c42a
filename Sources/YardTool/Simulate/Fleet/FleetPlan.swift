import Switchyard

/// The settings of a simulation: the clients, their policy, and the failures of their servers.
struct FleetPlan: Sendable {
    /// The number of clients.
    var clients = 20_000
    /// The failure scenario.
    var scenario = FleetScenario.deathAmple
    /// The switching policy of the clients.
    var policy = SwitchPolicy.recommended
    /// The way in which the servers handle a growing queue.
    var model = ServerModel.deep
    /// Whether every client keeps a connection to its first fallback.
    var isWarm = false
    /// The seed of all random numbers.
    var seed: UInt64 = 1

    /// The number of requests per second of one client.
    static let rate = 0.1
    /// The deadline of a request, including all attempts.
    static let deadline = Duration.seconds(2)
    /// The timeout of a probe.
    static let probeLimit = Duration.seconds(1)
    /// The work of an attempt on a new connection, as a multiple of the work of an attempt on an open connection.
    static let connectionCost = 3.0

    /// The number of requests per second of all clients.
    var load: Double { Double(clients) * FleetPlan.rate }
}
