/// The state of a core that the app may store over a relaunch: the last good server, and the ejected ones.
package struct SwitchMemory: Codable, Sendable, Hashable {
    /// The longest age at which ejections still count, in seconds.
    package static let longestAge = 600.0

    /// The time of saving, in seconds since 1970 by the wall clock.
    package var savedAt: Double
    /// The server that was preferred.
    package var current: Server.ID
    /// The servers that were ejected.
    package var ejected: [Server.ID]

    /// Creates a memory.
    package init(savedAt: Double, current: Server.ID, ejected: [Server.ID]) {
        self.savedAt = savedAt
        self.current = current
        self.ejected = ejected
    }
}

extension SwitchingCore {
    /// Returns the state to store.
    ///
    /// - Parameter wallClock: Seconds since 1970.
    /// - Returns: The memory.
    package func memory(wallClock: Double) -> SwitchMemory {
        let ejected = serverIDs.indices.filter { recovery.state(of: $0) == .ejected }.map { serverIDs[$0] }
        return SwitchMemory(savedAt: wallClock, current: current, ejected: ejected)
    }

    /// Restores a stored memory before the first request.
    ///
    /// Servers that were ejected at most `SwitchMemory.longestAge` ago are ejected again, with a probe due immediately.
    /// Of an older memory, or one from the future, only the last good server counts. A policy that does not fail back
    /// starts with that server. Unknown names are ignored.
    ///
    /// - Parameters:
    ///   - memory: The memory.
    ///   - wallClock: Seconds since 1970.
    ///   - now: The time.
    /// - Returns: The events that followed.
    package mutating func restore(
        _ memory: SwitchMemory,
        wallClock: Double,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let time = read(now)
        if (0...SwitchMemory.longestAge).contains(wallClock - memory.savedAt) {
            for position in steering.members.indices where memory.ejected.contains(steering.members[position].id) {
                // A command in force is newer than the memory.
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
