/// The reason why a core could not be created, or why a command has no effect.
public enum SwitchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The list of servers is empty.
    case noServers
    /// The list has more than 64 servers; the associated value is their number.
    case tooManyServers(Int)
    /// Two servers have this name.
    case duplicateServer(Server.ID)
    /// A weight is negative or not a number.
    case invalidWeight(Server.ID, Double)
    /// No server has this name; `known` lists the existing names.
    case unknownServer(Server.ID, known: [Server.ID])
    /// A pushed command is not newer than the last pushed command.
    case staleCommand(version: UInt64, last: UInt64)
    /// A pushed command's duration is out of range.
    case invalidCommand(String)
    /// A value of the policy is out of range.
    case invalidPolicy(SwitchPolicy.Problem)

    /// A one-line description of the error.
    public var description: String {
        switch self {
        case .noServers: "expected at least one server"
        case .tooManyServers(let count): "expected at most \(ServerSet.capacity) servers, found \(count)"
        case .duplicateServer(let id): "expected every server's name only once, found \(id) twice"
        case .invalidWeight(let id, let weight): "expected a weight of at least 0 for \(id), found \(weight)"
        case .unknownServer(let id, let known): "unknown server \(id): must be one of \(known.joined(separator: ", "))"
        case .staleCommand(let version, let last):
            "the version of the command is \(version): must be above \(last), the version of the last command"
        case .invalidCommand(let reason): reason
        case .invalidPolicy(let problem): problem.description
        }
    }
}
