import Switchyard

/// What is simulated: how many clients with which policy, and what happens to their servers.
struct FleetPlan: Sendable {
    /// How many clients there are.
    var clients = 20_000
    /// What goes wrong.
    var scenario = FleetScenario.deathAmple
    /// When the clients switch.
    var policy = SwitchPolicy.recommended
    /// How the servers treat a queue that grows.
    var model = ServerModel.deep
    /// Whether every client keeps a connection to its first fallback.
    var isWarm = false
    /// The seed of all random numbers.
    var seed: UInt64 = 1

    /// The requests per second of one client.
    static let rate = 0.1
    /// The time that a request may take, all attempts together.
    static let deadline = Duration.seconds(2)
    /// The time that a probe may take.
    static let probeLimit = Duration.seconds(1)
    /// The work of an attempt on a new connection, in units of one on an open connection.
    static let connectionCost = 3.0

    /// The requests per second of all clients.
    var load: Double { Double(clients) * FleetPlan.rate }
}
