/// A command to prefer, force or avoid a server, which comes from outside the app, for example with a push
/// notification.
///
/// The command names a server of the list, never an address. The app must verify the signature of the command.
public struct PushCommand: Sendable, Hashable {
    /// The action on the server.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Puts the server first; if the server fails, the next server still takes over.
        case prefer
        /// Sends every request to the server, until the command expires or the server is ejected (taken out of use for
        /// a time).
        case force
        /// Puts the server last; requests still reach it if the other servers fail.
        case avoid
        /// Restores the order of the list; the server named in the command does not matter.
        case clear
    }

    /// The version of the command, which must be greater than that of every earlier command.
    package var version: UInt64
    /// The action on the server.
    package var mode: Mode
    /// The name of the server.
    package var server: Server.ID
    /// The time for which the command applies; if `nil`, it applies until the next command.
    package var timeToLive: Duration?
    /// The maximum random delay before the command takes effect, so that not all clients switch at the same moment;
    /// zero by default.
    package var spread: Duration

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - version: The version, greater than that of every earlier command.
    ///   - mode: The action on the server.
    ///   - server: The name of the server.
    ///   - timeToLive: The time for which the command applies. If `nil`, it applies until the next command.
    ///   - spread: The maximum random delay before the command takes effect; zero by default.
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
