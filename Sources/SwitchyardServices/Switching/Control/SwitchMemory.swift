/// The state of a core that the app may store across relaunches: the preferred server and the ejected servers.
///
/// An ejected server is out of use for a time, because it failed.
package struct SwitchMemory: Codable, Sendable, Hashable {
    /// The maximum age of a stored state, in seconds; the ejected servers of an older state are ignored.
    package static let longestAge = 600.0

    /// The time of saving, in seconds since 1970 by the wall clock.
    package var savedAt: Double
    /// The name of the preferred server.
    package var current: Server.ID
    /// The names of the ejected servers.
    package var ejected: [Server.ID]

    package init(savedAt: Double, current: Server.ID, ejected: [Server.ID]) {
        self.savedAt = savedAt
        self.current = current
        self.ejected = ejected
    }
}

extension SwitchingCore {
    /// Returns the state to store.
    ///
    /// - Parameter wallClock: The current time of the wall clock, in seconds since 1970.
    /// - Returns: The preferred server and the ejected servers.
    package func memory(wallClock: Double) -> SwitchMemory {
        let ejected = serverIDs.indices.filter { recovery.state(of: $0) == .ejected }.map { serverIDs[$0] }
        return SwitchMemory(savedAt: wallClock, current: current, ejected: ejected)
    }

    /// Restores a stored state before the first request.
    ///
    /// If the state was stored at most `SwitchMemory.longestAge` ago, its ejected servers are ejected again, with a
    /// probe due immediately. If the state is older, or its time is in the future, its ejected servers are ignored. If
    /// the policy's `failsBack` is `false`, the stored preferred server is preferred again. Unknown names are ignored.
    ///
    /// - Parameters:
    ///   - memory: The stored state.
    ///   - wallClock: The current time of the wall clock, in seconds since 1970.
    ///   - now: The current time.
    /// - Returns: The resulting events.
    package mutating func restore(
        _ memory: SwitchMemory,
        wallClock: Double,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let time = read(now)
        if (0...SwitchMemory.longestAge).contains(wallClock - memory.savedAt) {
            for position in steering.members.indices where memory.ejected.contains(steering.members[position].id) {
                // A server that a pushed command forces now is not ejected, because the command is newer than the
                // stored state.
                guard recovery.state(of: position) == .healthy, steering.forced != position,
                    recovery.hasHealthyPeer(of: position)
                else { continue }
                _ = recovery.eject(position, failsPartly: evidence.isMixed(position), at: time)
                evidence.eject(position)
            }
        }
        steering.restore(memory.current)
        updateCurrent(.restored, at: time)
        return takeEvents()
    }
}
