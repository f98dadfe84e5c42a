extension SwitchingCore {
    /// Records whether the machine is known to be offline.
    ///
    /// While the machine is offline, no outcome counts and the core's clock is stopped. If the state is unknown, pass
    /// `false`.
    ///
    /// - Parameters:
    ///   - isOffline: Whether the machine is known to be offline.
    ///   - now: The current time.
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
    /// The outcomes of earlier attempts are no evidence about servers. During ``DetectionRules/quietAfterPathChange``,
    /// no outcome is evidence. Scores return to 0, and ejected servers (those out of use for a time) are probed within
    /// a second.
    ///
    /// - Parameter now: The current time.
    package mutating func pathChanged(at now: MonotonicTime) {
        let time = read(now)
        timeline.changePath(at: now, quietUntil: time + rules.policy.detection.quietAfterPathChange.inSeconds)
        evidence.forgetFailures()
        admission.clearDoubts()
        recovery.hastenProbes(at: time, &random)
    }

    /// Records that the process was paused until `end`.
    ///
    /// The duration of an attempt that began earlier is no evidence about its server. Its failure is no evidence
    /// either, unless it is a response, because during the pause the process read nothing that the server sent.
    ///
    /// - Parameter end: The time at which the process continued. A time before the end of the last pause changes
    ///   nothing.
    package mutating func processResumed(at end: MonotonicTime) {
        timeline.resume(at: end)
    }

    /// Forgets the health of all servers after a change of the environment, because their names now refer to other
    /// servers.
    ///
    /// The outcomes of attempts in flight are no evidence about the new servers. If the app has chosen a preferred
    /// server, that choice stays.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The resulting events.
    package mutating func reset(at now: MonotonicTime) -> [SwitchEvent] {
        let time = read(now)
        recovery.reset(at: time)
        admission = Admission(rules, count: steering.members.count)
        evidence.reset(at: time)
        inFlight = InFlight(rules, count: steering.members.count)
        updateCurrent(.reset, at: time)
        return takeEvents()
    }

    /// Returns the current state of every server, in the order of the list.
    ///
    /// - Parameter now: The current time.
    /// - Returns: One snapshot per server.
    package func snapshot(at now: MonotonicTime) -> [ServerSnapshot] {
        let time = timeline.time(at: now)
        return steering.members.indices.map { position in
            let (server, latency) = (recovery.servers[position], evidence.servers[position].latency)
            var snapshot = ServerSnapshot(
                id: steering.members[position].id,
                state: server.state,
                isCurrent: position == Int(steering.current),
                statistics: statistics(of: position, at: time),
                p50: latency.quantile(0.5).map { .seconds($0) },
                p99: latency.quantile(0.99).map { .seconds($0) },
                ejections: Int(server.ejections),
                nextProbe: server.state == .healthy ? nil : .seconds(max(0, server.dueAt - time))
            )
            snapshot.latencyCount = latency.count
            return snapshot
        }
    }

    /// Returns the statistics of a server for an event or a snapshot.
    func statistics(of position: Int, at time: Double) -> HealthStatistics {
        evidence.statistics(of: position, share: admission.share(of: position, at: time), at: time)
    }
}
