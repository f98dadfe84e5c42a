extension SwitchingCore {
    /// Records whether the machine is known to be offline.
    ///
    /// While it is, nothing counts and the core's time is stopped. Unknown is not offline.
    ///
    /// - Parameters:
    ///   - isOffline: Whether it is.
    ///   - now: The time.
    package mutating func setOffline(_ isOffline: Bool, at now: MonotonicTime) {
        if isOffline {
            timeline.freeze(at: now)
        } else if timeline.isFrozen {
            timeline.thaw(at: now)
            pathChanged(at: now)
        }
    }

    /// Records that the machine's network path has changed, or that the app was suspended.
    ///
    /// Earlier attempts, and for a moment all others, say nothing about servers any more. Scores return to 0, and
    /// ejected servers are probed within a second.
    ///
    /// - Parameter now: The time.
    package mutating func pathChanged(at now: MonotonicTime) {
        let time = read(now)
        timeline.changePath(at: now, quietUntil: time + rules.policy.detection.quietAfterPathChange.inSeconds)
        evidence.forgetFailures()
        admission.clearDoubts()
        recovery.hastenProbes(at: time, &random)
    }

    /// Records that the process was paused until `end`.
    ///
    /// The duration of an earlier attempt says nothing about its server, nor does its failure unless it is a response:
    /// during the pause the process neither read what the server sent nor responded.
    ///
    /// - Parameter end: The time at which the process continued; an earlier time than the last one changes nothing.
    package mutating func processResumed(at end: MonotonicTime) {
        timeline.resume(at: end)
    }

    /// Forgets all health for a change of environment, because the same names belong to other servers now.
    ///
    /// Attempts in flight say nothing about the new servers. A requested preference stays.
    ///
    /// - Parameter now: The time.
    /// - Returns: The events that followed.
    package mutating func reset(at now: MonotonicTime) -> [SwitchEvent] {
        let time = read(now)
        recovery.reset(at: time)
        admission = Admission(rules, count: steering.members.count)
        evidence.reset(at: time)
        updateCurrent(.reset, at: time)
        return takeEvents()
    }

    /// Returns the current state of every server, in the order of the list.
    ///
    /// - Parameter now: The time.
    /// - Returns: One snapshot per server.
    package func snapshot(at now: MonotonicTime) -> [ServerSnapshot] {
        let time = timeline.time(at: now)
        return steering.members.indices.map { position in
            let (server, latency) = (recovery.servers[position], evidence.servers[position].latency)
            return ServerSnapshot(
                id: steering.members[position].id,
                state: server.state,
                isCurrent: position == Int(steering.current),
                statistics: statistics(of: position, at: time),
                p50: latency.quantile(0.5).map { .seconds($0) },
                p99: latency.quantile(0.99).map { .seconds($0) },
                ejections: Int(server.ejections),
                nextProbe: server.state == .healthy ? nil : .seconds(max(0, server.dueAt - time))
            )
        }
    }

    /// Returns the figures of a server for an event or a snapshot.
    func statistics(of position: Int, at time: Double) -> HealthStatistics {
        evidence.statistics(of: position, share: admission.share(of: position, at: time), at: time)
    }
}
