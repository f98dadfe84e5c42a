extension SwitchingCore {
    /// Prefers a server from now on and gives it a fresh start; the others follow in the order of the list.
    ///
    /// The fresh start restores its share of the traffic and ends its `Retry-After`. Health still decides: if the
    /// server fails, the next one takes over. A pushed command in force ends.
    ///
    /// - Parameters:
    ///   - id: The server.
    ///   - version: The ``version`` on which the decision was based; if another trigger has switched since, nothing
    ///     happens. `nil` switches in any case.
    ///   - now: The time.
    /// - Returns: The events that followed; empty if nothing changed.
    /// - Throws: ``SwitchError/unknownServer(_:known:)``, and then nothing has changed.
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

    /// Switches to the server after the current one in the list, or to the first after the last.
    ///
    /// An ejected server is skipped as long as another one is healthy.
    ///
    /// - Parameters:
    ///   - version: See ``switchTo(_:from:at:)``.
    ///   - now: The time.
    /// - Returns: The events that followed; empty if nothing changed, as with a single server.
    package mutating func next(from version: UInt64? = nil, at now: MonotonicTime) -> [SwitchEvent] {
        let time = read(now)
        guard version == nil || version == self.version else { return takeEvents() }
        let count = steering.members.count
        let ring = (1..<count).map { (Int(steering.current) + $0) % count }
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
    ///   - now: The time.
    /// - Returns: The immediate events; with a spread, the events follow later, with another call.
    /// - Throws: ``SwitchError/unknownServer(_:known:)``, ``SwitchError/staleCommand(version:last:)`` or
    ///   ``SwitchError/invalidCommand(_:)``, and then nothing has changed.
    package mutating func apply(_ command: PushCommand, at now: MonotonicTime) throws(SwitchError) -> [SwitchEvent] {
        try steering.check(command)
        let time = read(now)
        let wait = command.spread > .zero ? command.spread.inSeconds * random.unit() : 0
        steering.push(command, dueAt: time + wait)
        steer(at: time)
        return takeEvents()
    }

    /// Lets a pushed command begin or end when its time has come.
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

    /// Replaces the list of servers; servers that stay, by name, keep their health.
    ///
    /// The order of preference is that of the new list; a pushed command in force stays in force. Attempts on removed
    /// servers say nothing any more.
    ///
    /// - Parameters:
    ///   - members: The new list.
    ///   - now: The time.
    /// - Returns: The events that followed.
    /// - Throws: The defect of the list, and then nothing has changed; for an empty list ``SwitchError/noServers``.
    package mutating func replace(_ members: [Member], at now: MonotonicTime) throws(SwitchError) -> [SwitchEvent] {
        try SwitchingCore.check(members)
        let time = read(now)
        let previous = current
        rearrange(steering.positions(of: members), at: time)
        if steering.replace(members) {
            updateCurrent(.listReplaced, at: time)
        } else {
            let healthy = steering.order.first { recovery.state(of: Int($0)) == .healthy }
            moveTraffic(to: healthy ?? steering.order[0], from: previous, .listReplaced, at: time)
        }
        return takeEvents()
    }

    /// Moves what is known about the servers to their new positions; `nil` is a new server.
    private mutating func rearrange(_ known: [Int?], at time: Double) {
        recovery.rearrange(known, at: time)
        admission.rearrange(known)
        evidence.rearrange(known, at: time)
    }

    /// Gives a server a fresh start, its share included.
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

    /// Makes a server the preferred one, and reports that.
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
