/// A pushed command that holds.
struct Steering: Sendable {
    var command: PushCommand
    /// When it ends.
    var until: Double
    /// The server that gets everything.
    var forced: Int?
}

/// A pushed command that waits for its time.
struct PendingPush: Sendable {
    var command: PushCommand
    var dueAt: Double
}

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
        let position = try position(of: id)
        let time = read(now)
        guard version == nil || version == self.version else { return takeEvents() }
        steering = nil
        prefer(position, isFresh: true, .requested, at: time)
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
        let start = Int(currentPosition)
        let ring = (1..<members.count).map { (start + $0) % members.count }
        guard let target = ring.first(where: { health[$0].state == .healthy }) ?? ring.first else {
            return takeEvents()
        }
        steering = nil
        prefer(target, isFresh: true, .requested, at: time)
        return takeEvents()
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
        if command.mode != .clear { _ = try position(of: command.server) }
        if let last = lastPush, command.version <= last {
            throw SwitchError.staleCommand(version: command.version, last: last)
        }
        guard command.spread >= .zero, command.timeToLive ?? .seconds(1) > .zero else {
            throw SwitchError.invalidCommand("expected a time to live above 0 and a spread of at least 0")
        }
        let time = read(now)
        lastPush = command.version
        let wait = command.spread > .zero ? command.spread.inSeconds * random.unit() : 0
        pendingPush = PendingPush(command: command, dueAt: time + wait)
        steer(at: time)
        return takeEvents()
    }

    /// Lets a pushed command begin or end when its time has come.
    mutating func steer(at time: Double) {
        if let pending = pendingPush, time >= pending.dueAt { begin(pending.command, at: time) }
        if let steering, time >= steering.until { endSteering(at: time) }
    }

    /// Puts a command in the place of the one before.
    private mutating func begin(_ command: PushCommand, at time: Double) {
        pendingPush = nil
        steering = nil
        restoreOrder()
        emit(.pushed(command))
        guard command.mode != .clear, let position = members.firstIndex(where: { $0.id == command.server }) else {
            return updateCurrent(.pushed, at: time)
        }
        let until = command.timeToLive.map { time + $0.inSeconds } ?? .infinity
        steering = Steering(command: command, until: until, forced: command.mode == .force ? position : nil)
        if command.mode == .avoid {
            order = steered(by: command)
            updateCurrent(.pushed, at: time)
        } else {
            prefer(position, isFresh: command.mode == .force, .pushed, at: time)
        }
    }

    /// Returns the order of preference with the server of a command first; unchanged if that server is gone.
    func steered(by command: PushCommand) -> [UInt8] {
        guard command.mode != .clear, let named = order.first(where: { members[Int($0)].id == command.server }) else {
            return order
        }
        let others = order.filter { $0 != named }
        return command.mode == .avoid ? others + [named] : [named] + others
    }

    mutating func endSteering(at time: Double) {
        steering = nil
        restoreOrder()
        updateCurrent(.pushEnded, at: time)
    }

    /// Goes back to the list's order; where traffic stays with its server, to the ring that begins there.
    private mutating func restoreOrder() {
        order = baseOrder
        if !rules.policy.failsBack { turnRing(to: currentPosition) }
    }

    mutating func prefer(_ position: Int, isFresh: Bool, _ cause: SwitchCause, at time: Double) {
        if rules.policy.failsBack {
            order = [UInt8(position)] + baseOrder.filter { Int($0) != position }
        } else {
            turnRing(to: UInt8(position))
        }
        if isFresh {
            let wasHealthy = health[position].state == .healthy
            health[position].recover(generation: wasHealthy ? health[position].generation : takeGeneration(), at: time)
            health[position].window.clear()
            health[position].admission = AdmissionShare()
        }
        updateCurrent(cause, at: time)
    }

    func position(of id: Server.ID) throws(SwitchError) -> Int {
        guard let position = members.firstIndex(where: { $0.id == id }) else {
            throw SwitchError.unknownServer(id, known: serverIDs)
        }
        return position
    }
}
