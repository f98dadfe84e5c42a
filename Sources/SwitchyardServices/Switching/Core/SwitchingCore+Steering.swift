extension SwitchingCore {
    /// Makes a server the preferred one and gives it a fresh start.
    ///
    /// The other servers follow in the order of the list. The fresh start restores the server's share of the traffic
    /// and ends its `Retry-After`. If the server fails, the next server still takes over. A pushed command that
    /// currently applies ends.
    ///
    /// - Parameters:
    ///   - id: The name of the server.
    ///   - version: The ``version`` on which the decision was based. If the preferred server has changed since, nothing
    ///     happens. If `nil`, the switch takes place in any case.
    ///   - now: The current time.
    /// - Returns: The resulting events; empty if nothing changed.
    /// - Throws: ``SwitchError/unknownServer(_:known:)``; in this case nothing has changed.
    package mutating func switchTo(
        _ id: Server.ID,
        from version: UInt64? = nil,
        at now: MonotonicTime
    ) throws(SwitchError) -> [SwitchEvent] {
        guard let position = steering.position(of: id) else {
            throw SwitchError.unknownServer(id, known: serverIDs)
        }
        let time = read(now)
        guard version == nil || version == self.version else { return takeEvents() }
        requestSwitch(to: position, at: time)
        return takeEvents()
    }

    /// Switches to the server after the current one in the list, or from the last server to the first.
    ///
    /// An ejected server (one taken out of use for a time) is skipped as long as another server is healthy.
    ///
    /// - Parameters:
    ///   - version: See ``switchTo(_:from:at:)``.
    ///   - now: The current time.
    /// - Returns: The resulting events; empty if nothing changed, for example because there is only one server.
    package mutating func next(from version: UInt64? = nil, at now: MonotonicTime) -> [SwitchEvent] {
        let time = read(now)
        guard version == nil || version == self.version else { return takeEvents() }
        let count = steering.members.count
        let ring = (1..<count).map { (Int(steering.current) + $0) % count }
            .filter(steering.layout.generalists.contains)
        guard let target = ring.first(where: { recovery.state(of: $0) == .healthy }) ?? ring.first else {
            return takeEvents()
        }
        requestSwitch(to: target, at: time)
        return takeEvents()
    }

    private mutating func requestSwitch(to position: Int, at time: Double) {
        steering.dropCommand()
        steering.prefer(position)
        startAfresh(position, at: time)
        updateCurrent(.requested, at: time)
    }

    /// Applies a command that was pushed from outside.
    ///
    /// - Parameters:
    ///   - command: The command, whose signature has been checked.
    ///   - now: The current time.
    /// - Returns: The resulting events. If the command has a spread, a later call returns its events.
    /// - Throws: ``SwitchError/unknownServer(_:known:)``, ``SwitchError/staleCommand(version:last:)`` or
    ///   ``SwitchError/invalidCommand(_:)``; in these cases nothing has changed.
    package mutating func apply(_ command: PushCommand, at now: MonotonicTime) throws(SwitchError) -> [SwitchEvent] {
        try steering.check(command)
        let time = read(now)
        let wait = command.spread > .zero ? command.spread.inSeconds * random.unit() : 0
        steering.push(command, dueAt: time + wait)
        steer(at: time)
        return takeEvents()
    }

    /// Starts a pushed command that is due, and ends a pushed command that has expired.
    mutating func steer(at time: Double) {
        if let command = steering.beginDue(at: time) {
            emit(.pushed(command))
            if let forced = steering.forced { startAfresh(forced, at: time) }
            updateCurrent(.pushed, at: time)
        }
        if steering.isCommandOver(at: time) { endSteering(at: time) }
    }

    mutating func endSteering(at time: Double) {
        steering.endCommand()
        updateCurrent(.pushEnded, at: time)
    }

    /// Replaces the list of servers.
    ///
    /// Servers whose names are in both lists keep their health, unless their hosts have changed. The order of preference
    /// follows the new list. A pushed command that currently applies stays in effect. The outcomes of attempts on removed
    /// servers and on the previous hosts no longer count.
    ///
    /// - Parameters:
    ///   - members: The new list.
    ///   - moved: The names of the servers whose hosts have changed.
    ///   - now: The current time.
    /// - Returns: The resulting events.
    /// - Throws: The error in the list, such as ``SwitchError/noServers``; in this case nothing has changed.
    package mutating func replace(
        _ members: [Member],
        moved: Set<Server.ID> = [],
        at now: MonotonicTime
    ) throws(SwitchError) -> [SwitchEvent] {
        try SwitchingCore.check(members)
        let time = read(now)
        for (position, member) in steering.members.enumerated()
        where moved.contains(member.id) && recovery.state(of: position) != .healthy {
            recover(position, at: time)
        }
        let previous = current
        let known = zip(members, steering.positions(of: members)).map { moved.contains($0.id) ? nil : $1 }
        rearrange(known, at: time)
        replacedAt = now
        if steering.replace(members) {
            updateCurrent(.listReplaced, at: time)
        } else {
            let general = steering.order.filter { steering.layout.generalists.contains(Int($0)) }
            let healthy = general.first { recovery.state(of: Int($0)) == .healthy }
            moveTraffic(to: healthy ?? general[0], from: previous, .listReplaced, at: time)
        }
        return takeEvents()
    }

    /// Moves the records about the servers to their new positions.
    ///
    /// `known` contains the old position of each server, or `nil` for a new server.
    private mutating func rearrange(_ known: [Int?], at time: Double) {
        recovery.rearrange(known, at: time)
        admission.rearrange(known)
        evidence.rearrange(known, at: time)
        inFlight?.rearrange(known)
    }

    /// Puts the servers of a zone first, or restores the order of the list if the zone is `nil`.
    ///
    /// - Parameters:
    ///   - zone: The zone. A zone without a server changes nothing.
    ///   - now: The current time.
    /// - Returns: The resulting events.
    package mutating func prefer(zone: String?, at now: MonotonicTime) -> [SwitchEvent] {
        let time = read(now)
        steering.prefer(zone: zone)
        updateCurrent(.requested, at: time)
        return takeEvents()
    }

    /// The zone whose servers come first, or `nil` if there is none.
    package var preferredZone: String? { steering.zone }

    /// Makes a server healthy, forgets the evidence against it, and restores its full share of the traffic.
    private mutating func startAfresh(_ position: Int, at time: Double) {
        recovery.restart(position, at: time)
        evidence.recover(position)
        evidence.clearWindow(position)
        admission.restore(position)
    }

    /// Updates the preferred server, and reports a switch.
    mutating func updateCurrent(_ cause: SwitchCause, at time: Double) {
        guard let next = steering.nextPreferred(among: recovery.healthy) else { return }
        let previous = Int(steering.current)
        let figures = statistics(of: previous, at: time)
        moveTraffic(to: next, from: steering.members[previous].id, cause, at: time, figures)
    }

    /// Makes a server the preferred one, and reports the switch.
    private mutating func moveTraffic(
        to position: UInt8,
        from previous: Server.ID,
        _ cause: SwitchCause,
        at time: Double,
        _ figures: HealthStatistics = HealthStatistics()
    ) {
        steering.move(to: position, at: time)
        if rules.policy.detection.startsFreshWindow { evidence.clearWindow(Int(position)) }
        emit(.switched(from: previous, to: current, cause: cause), figures)
    }
}
