/// The failures of servers in an environment that the client has left.
package struct EnvironmentFailures: Sendable, Equatable {
    /// The name of the environment.
    package var environment: String
    /// The names of the servers that failed, without repetitions.
    package var servers: [String]
    /// The time in seconds for which no server responded, or `nil` if a server always responded.
    package var secondsWithoutServer: Double?

    /// Returns the failures as a sentence.
    ///
    /// An example is `In release, servers primary and secondary failed.`, where `count` is the number of servers of the
    /// service.
    func sentence(servers count: Int) -> String {
        let named = "\(VerdictText.servers(servers)) failed."
        let own = secondsWithoutServer.map { Self.outage(of: count, for: VerdictText.seconds($0)) } ?? named
        return "In \(environment), \(own.prefix(1).lowercased())\(own.dropFirst())"
    }

    /// Returns the sentence about an outage of all servers, such as `Both servers were down for 6 s.`.
    static func outage(of servers: Int, for time: String, isDownNow: Bool = false) -> String {
        let subject =
            switch servers {
            case 1: "The server"
            case 2: "Both servers"
            default: "All servers"
            }
        let past = servers == 1 ? "was" : "were"
        let verb = isDownNow ? servers == 1 ? "has been" : "have been" : past
        return "\(subject) \(verb) down for \(time)."
    }
}
