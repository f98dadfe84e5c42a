/// A switch that comes from outside the app, such as a push notification.
///
/// It names a server of the list, never an address. The app must have checked its signature.
public struct PushCommand: Sendable, Hashable {
    /// The action on the server.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Put it first; health still rules.
        case prefer
        /// Send everything there, until the time is up or the server fails altogether.
        case force
        /// Put it last; health still rules.
        case avoid
        /// Go back to the order of the list; the server named does not matter.
        case clear
    }

    /// The number of the command, greater than that of every command before.
    package var version: UInt64
    /// The action on the server.
    package var mode: Mode
    /// The server.
    package var server: Server.ID
    /// The time for which the command applies; if `nil`, it applies until the next command.
    package var timeToLive: Duration?
    /// The command takes effect after a random time up to this, so that a fleet does not move at once; default none.
    package var spread: Duration

    /// Creates a command.
    public init(
        version: UInt64,
        mode: Mode,
        server: Server.ID,
        timeToLive: Duration? = nil,
        spread: Duration = .zero
    ) {
        self.version = version
        self.mode = mode
        self.server = server
        self.timeToLive = timeToLive
        self.spread = spread
    }
}
