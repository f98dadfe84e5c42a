/// The servers in order of preference, the preferred one, and the pushed command that holds.
struct Steering: Sendable {
    /// A pushed command that holds.
    private struct CommandInForce: Sendable {
        var command: PushCommand
        /// When it ends.
        var until: Double
        /// The server that gets everything.
        var forced: Int?
    }

    /// A pushed command that waits for its time.
    private struct PendingPush: Sendable {
        var command: PushCommand
        var dueAt: Double
    }

    private let failsBack: Bool
    private let installation: UInt64?
    private(set) var members: [SwitchingCore.Member]
    /// The positions of the servers, by the order of the list and of the installation.
    private(set) var baseOrder: [UInt8]
    /// The positions of the servers, the preferred one first.
    private(set) var order: [UInt8]
    /// The position of the preferred server.
    private(set) var current: UInt8
    /// How often the preferred server has changed.
    private(set) var version: UInt64 = 0
    /// When the preferred server last changed.
    private var switchedAt = -1e9
    private var inForce: CommandInForce?
    private var pending: PendingPush?
    private var lastPush: UInt64?
    /// The position after the last one of the round-robin selection.
    private(set) var cursor = 0

    init(_ members: [SwitchingCore.Member], failsBack: Bool, installation: UInt64?) {
        self.members = members
        self.failsBack = failsBack
        self.installation = installation
        baseOrder = Self.naturalOrder(of: members, for: installation)
        order = baseOrder
        current = order[0]
    }

    /// The name of the preferred server.
    var currentID: Server.ID { members[Int(current)].id }

    /// The position of a server by name.
    func position(of id: Server.ID) -> Int? { members.firstIndex { $0.id == id } }

    /// The list's order, with the fallbacks shuffled by the installation's number.
    private static func naturalOrder(of members: [SwitchingCore.Member], for installation: UInt64?) -> [UInt8] {
        let positions = (0..<members.count).map { UInt8($0) }
        guard let installation, members.count > 2 else { return positions }
        let ranked = positions.dropFirst().map { position in
            let member = members[Int(position)]
            return (position, StableHash.rendezvous(installation, member.hash, weight: member.weight))
        }
        return [positions[0]] + ranked.sorted { $0.1 > $1.1 }.map(\.0)
    }
}

// MARK: - The preferred server

extension Steering {
    /// Returns the server that has to become the preferred one; `nil` if there is no change.
    ///
    /// It is the server that a command forces, otherwise the first healthy one.
    func nextPreferred(among healthy: ServerSet) -> UInt8? {
        let first = order.first { healthy.contains(Int($0)) }
        guard let next = forced.map({ UInt8($0) }) ?? first, next != current else { return nil }
        return next
    }

    /// Makes a server the preferred one.
    mutating func move(to position: UInt8, at time: Double) {
        current = position
        version &+= 1
        switchedAt = time
        if !failsBack { turnRing(to: position) }
    }

    /// Whether ejecting the server would switch less than `interval` seconds after the last switch.
    func isSwitchTooSoon(from position: Int, within interval: Double, at time: Double) -> Bool {
        position == Int(current) && time - switchedAt < interval
    }

    /// Puts a server first in the order; the others follow in the order of the list.
    mutating func prefer(_ position: Int) {
        if failsBack {
            order = [UInt8(position)] + baseOrder.filter { Int($0) != position }
        } else {
            turnRing(to: UInt8(position))
        }
    }

    /// Starts with a server that was preferred before a relaunch, if traffic stays with its server.
    mutating func restore(_ id: Server.ID) {
        if !failsBack, let position = position(of: id) { turnRing(to: UInt8(position)) }
    }

    /// Turns the order of preference, as a ring, so that it begins with a server; one to be avoided stays the last.
    private mutating func turnRing(to position: UInt8) {
        guard let start = baseOrder.firstIndex(of: position) else { return }
        order = Array(baseOrder[start...] + baseOrder[..<start])
        guard let command = inForce?.command, command.mode == .avoid else { return }
        guard let avoided = order.firstIndex(where: { members[Int($0)].id == command.server }), avoided > 0 else {
            return
        }
        order.append(order.remove(at: avoided))
    }

    /// Goes back to the list's order; where traffic stays with its server, to the ring that begins there.
    private mutating func restoreOrder() {
        order = baseOrder
        if !failsBack { turnRing(to: current) }
    }

    /// Continues the round-robin selection after a server.
    mutating func advanceCursor(after position: Int) { cursor = (position + 1) % members.count }
}

// MARK: - Pushed commands

extension Steering {
    /// The server that gets everything by a command.
    var forced: Int? { inForce?.forced }

    /// Whether a command holds; ``isCommanded`` is also `true` while one waits for its time.
    var hasCommand: Bool { inForce != nil }

    /// Whether a command holds or waits for its time.
    var isCommanded: Bool { inForce != nil || pending != nil }

    /// Throws the defect of a command.
    func check(_ command: PushCommand) throws(SwitchError) {
        if command.mode != .clear, position(of: command.server) == nil {
            throw SwitchError.unknownServer(command.server, known: members.map(\.id))
        }
        if let last = lastPush, command.version <= last {
            throw SwitchError.staleCommand(version: command.version, last: last)
        }
        guard command.spread >= .zero, command.timeToLive ?? .seconds(1) > .zero else {
            throw SwitchError.invalidCommand("expected a time to live above 0 and a spread of at least 0")
        }
    }

    /// Takes a command that begins at a time.
    mutating func push(_ command: PushCommand, dueAt time: Double) {
        lastPush = command.version
        pending = PendingPush(command: command, dueAt: time)
    }

    /// Puts the command whose time has come in the place of the one before, and returns it.
    mutating func beginDue(at time: Double) -> PushCommand? {
        guard let command = pending?.command, let dueAt = pending?.dueAt, time >= dueAt else { return nil }
        pending = nil
        endCommand()
        guard command.mode != .clear, let position = position(of: command.server) else { return command }
        let until = command.timeToLive.map { time + $0.inSeconds } ?? .infinity
        inForce = CommandInForce(command: command, until: until, forced: command.mode == .force ? position : nil)
        if command.mode == .avoid { order = steered(by: command) } else { prefer(position) }
        return command
    }

    /// Whether the command that holds has to end.
    func isCommandOver(at time: Double) -> Bool { inForce.map { time >= $0.until } ?? false }

    /// Ends the command that holds, and restores the order.
    mutating func endCommand() {
        inForce = nil
        restoreOrder()
    }

    /// Forgets the command that holds; the order stays until ``prefer(_:)`` changes it.
    mutating func dropCommand() { inForce = nil }

    /// Returns the order of preference with the server of a command first; unchanged if that server is gone.
    private func steered(by command: PushCommand) -> [UInt8] {
        guard command.mode != .clear, let named = order.first(where: { members[Int($0)].id == command.server }) else {
            return order
        }
        let others = order.filter { $0 != named }
        return command.mode == .avoid ? others + [named] : [named] + others
    }
}

// MARK: - The list

extension Steering {
    /// Returns the present positions of the servers of a new list; `nil` for new servers.
    func positions(of members: [SwitchingCore.Member]) -> [Int?] { members.map { position(of: $0.id) } }

    /// Replaces the list of servers; a command that holds stays in force.
    ///
    /// - Returns: Whether the preferred server is in the new list; if not, the caller has to move on to another one.
    mutating func replace(_ members: [SwitchingCore.Member]) -> Bool {
        let previous = currentID
        let forced = forced.map { self.members[$0].id }
        self.members = members
        cursor = 0
        baseOrder = Self.naturalOrder(of: members, for: installation)
        order = baseOrder
        inForce?.forced = members.firstIndex { $0.id == forced }
        if let command = inForce?.command { order = steered(by: command) }
        guard let position = position(of: previous) else { return false }
        current = UInt8(position)
        if !failsBack { turnRing(to: current) }
        return true
    }
}
