/// What a core may remember over a relaunch, to be stored by the app: the last good server, and who was ejected.
package struct SwitchMemory: Codable, Sendable, Hashable {
    /// The longest age at which ejections still count, in seconds.
    package static let longestAge = 600.0

    /// When it was saved, in seconds since 1970 by the wall clock.
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
    /// Returns what is worth remembering.
    ///
    /// - Parameter wallClock: Seconds since 1970.
    /// - Returns: The memory, to be stored.
    package func memory(wallClock: Double) -> SwitchMemory {
        let ejected = members.indices.filter { health[$0].state == .ejected }.map { members[$0].id }
        return SwitchMemory(savedAt: wallClock, current: current, ejected: ejected)
    }

    /// Restores what was remembered, before the first request.
    ///
    /// Servers that were ejected at most `SwitchMemory.longestAge` ago are ejected again, with a probe due at once; of
    /// an older memory, or one from the future, only the last good server counts. A policy that does not fail back
    /// starts with that one. Names that the list does not know are passed over.
    ///
    /// - Parameters:
    ///   - memory: What was remembered.
    ///   - wallClock: Seconds since 1970.
    ///   - now: The time.
    /// - Returns: What followed.
    package mutating func restore(
        _ memory: SwitchMemory,
        wallClock: Double,
        at now: MonotonicTime
    ) -> [SwitchEvent] {
        let time = read(now)
        if (0...SwitchMemory.longestAge).contains(wallClock - memory.savedAt) {
            for position in members.indices where memory.ejected.contains(members[position].id) {
                // A command that holds is newer than what is remembered.
                guard health[position].state == .healthy, steering?.forced != position, hasHealthyPeer(of: position)
                else { continue }
                health[position].eject(generation: takeGeneration(), at: time, rules)
                health[position].dueAt = time
            }
        }
        if !rules.policy.failsBack, let position = members.firstIndex(where: { $0.id == memory.current }) {
            turnRing(to: UInt8(position))
        }
        updateCurrent(.restored, at: time)
        return takeEvents()
    }
}
