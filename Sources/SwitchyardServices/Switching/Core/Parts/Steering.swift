/// The servers in order of preference, the preferred server, and the pushed command that currently applies.
struct Steering: Sendable {
    /// The pushed command that currently applies.
    private struct CommandInForce: Sendable {
        var command: PushCommand
        /// The time at which the command expires.
        var until: Double
        /// The position of the server that gets all requests, or `nil` if the command does not force a server.
        var forced: Int?
    }

    /// A pushed command that has not taken effect yet.
    private struct PendingPush: Sendable {
        var command: PushCommand
        var dueAt: Double
    }

    private let failsBack: Bool
    private let selection: SelectionStrategy
    private let installation: UInt64?
    private(set) var members: [SwitchingCore.Member]
    /// The arrangement of the servers, which does not depend on their health.
    private(set) var layout: ServerLayout
    /// The zone whose servers come first, or `nil` if there is none.
    private(set) var zone: String?
    /// The position of the server that the app or a command has put first, or `nil` if there is none.
    private(set) var lead: UInt8?
    /// The server that is in use for each set of requests, if the policy's `failsBack` is `false` and servers have
    /// roles.
    ///
    /// The key is the set of servers that do not serve the requests.
    private var starts: [ServerSet: UInt8] = [:]
    /// The positions of the servers, the preferred one first.
    private(set) var order: [UInt8]
    /// The position of the preferred server.
    private(set) var current: UInt8
    /// The number of changes of the preferred server.
    private(set) var version: UInt64 = 0
    /// The time of the last change of the preferred server.
    private var switchedAt = -1e9
    private var inForce: CommandInForce?
    private var pending: PendingPush?
    private var lastPush: UInt64?
    /// The position at which the round-robin selection continues, or `nil` before its first request.
    private var cursor: Int?

    init(_ members: [SwitchingCore.Member], _ policy: SwitchPolicy, installation: UInt64?) {
        self.members = members
        self.installation = installation
        failsBack = policy.failsBack
        selection = policy.selection
        let layout = ServerLayout(members, by: policy.selection, preferring: nil, installation: installation)
        self.layout = layout
        order = layout.order
        current = layout.order.first { layout.generalists.contains(Int($0)) } ?? layout.order[0]
    }

    /// The positions of the servers in the order of the list, with the fallbacks shuffled for this installation.
    var baseOrder: [UInt8] { layout.order }

    /// The name of the preferred server.
    var currentID: Server.ID { members[Int(current)].id }

    /// Returns the position of a server by its name.
    func position(of id: Server.ID) -> Int? { members.firstIndex { $0.id == id } }
}

// MARK: - The preferred server

extension Steering {
    /// Returns the server that must become the preferred one, or `nil` if there is no change.
    ///
    /// This is the server that a command forces, otherwise the first healthy server in order. A server that does not
    /// serve every request is preferred only if no server serves every request.
    func nextPreferred(among healthy: ServerSet) -> UInt8? {
        let first = order.first { healthy.contains(Int($0)) && layout.generalists.contains(Int($0)) }
        let commanded = forced.flatMap { layout.generalists.contains($0) ? UInt8($0) : nil }
        guard let next = commanded ?? first, next != current else { return nil }
        return next
    }

    /// Returns the server that a request would go to if every server were healthy and the order alone determined the
    /// server.
    ///
    /// - Parameter unsuitable: The servers that do not serve the request.
    /// - Returns: The server, or `nil` if a command avoids the only server that serves the request.
    func first(without unsuitable: ServerSet) -> Int? {
        let passed = unsuitable.union(avoided.map { [$0] } ?? [])
        // If the policy's `failsBack` is `false`, the order begins with the server in use.
        let order = failsBack || lead != nil ? order : baseOrder
        return order.first { !passed.contains(Int($0)) }.map { Int($0) }
    }

    /// Returns the order of preference for requests that some servers do not serve.
    ///
    /// If the policy's `failsBack` is `false`, each set of servers keeps its own current server until that server
    /// fails.
    mutating func order(without unsuitable: ServerSet, _ healthy: ServerSet) -> [UInt8] {
        guard !failsBack, inForce == nil else { return order }
        let ring = Self.turned(baseOrder, to: starts[unsuitable] ?? order[0])
        guard let start = ring.first(where: { healthy.contains(Int($0)) && !unsuitable.contains(Int($0)) }) else {
            return ring
        }
        if starts.count >= ServerSet.capacity, starts[unsuitable] == nil { starts = [:] }
        starts[unsuitable] = start
        return Self.turned(ring, to: start)
    }

    private static func turned(_ ring: [UInt8], to position: UInt8) -> [UInt8] {
        guard let start = ring.firstIndex(of: position) else { return ring }
        return Array(ring[start...] + ring[..<start])
    }

    /// Makes a server the preferred one.
    mutating func move(to position: UInt8, at time: Double) {
        current = position
        version &+= 1
        switchedAt = time
        if !failsBack { turnRing(to: position) }
    }

    /// Whether it is too soon to eject a server (to take it out of use for a time).
    ///
    /// The result is `true` if the ejection would switch to another server less than `interval` seconds after the last
    /// switch.
    func isSwitchTooSoon(from position: Int, within interval: Double, at time: Double) -> Bool {
        position == Int(current) && time - switchedAt < interval
    }

    /// Puts a server first in the order; the other servers follow in the order of the list.
    mutating func prefer(_ position: Int) {
        (lead, starts) = (UInt8(position), [:])
        if failsBack {
            order = [UInt8(position)] + baseOrder.filter { Int($0) != position }
        } else {
            turnRing(to: UInt8(position))
        }
    }

    /// Starts with the server that was preferred before a relaunch, if the policy's `failsBack` is `false`.
    mutating func restore(_ id: Server.ID) {
        if !failsBack, let position = position(of: id) { turnRing(to: UInt8(position)) }
    }

    /// Rotates the order of preference so that it begins with a server.
    ///
    /// A server that a command avoids stays last.
    private mutating func turnRing(to position: UInt8) {
        order = Self.turned(baseOrder, to: position)
        guard let command = inForce?.command, command.mode == .avoid else { return }
        guard let avoided = order.firstIndex(where: { members[Int($0)].id == command.server }), avoided > 0 else {
            return
        }
        order.append(order.remove(at: avoided))
    }

    /// Restores the order of the servers that ``ServerLayout`` determines.
    ///
    /// If the policy's `failsBack` is `false`, the order begins with the current server.
    private mutating func restoreOrder() {
        lead = nil
        order = baseOrder
        if !failsBack { turnRing(to: current) }
    }

    /// Returns how many positions a server comes after the server with which the round-robin selection continues.
    ///
    /// The selection starts at a server that `draw` determines. If it started at the first server of the list, clients
    /// that start together would send all their first requests to that server.
    func distance(to position: Int, draw: UInt64) -> Int {
        let next = cursor ?? Int(draw % UInt64(members.count))
        return (position - next + members.count) % members.count
    }

    /// Makes the round-robin selection continue after a position.
    mutating func advanceCursor(after position: Int) { cursor = (position + 1) % members.count }
}

// MARK: - Pushed commands

extension Steering {
    /// The position of the server that a command forces for all requests, or `nil` if there is none.
    var forced: Int? { inForce?.forced }

    /// The position of the server that a command avoids, or `nil` if there is none.
    var avoided: Int? {
        guard let command = inForce?.command, command.mode == .avoid else { return nil }
        return position(of: command.server)
    }

    /// Whether a command currently applies.
    ///
    /// ``isCommanded`` is also `true` for a command that has not taken effect yet.
    var hasCommand: Bool { inForce != nil }

    /// Whether a command currently applies, or has not taken effect yet.
    var isCommanded: Bool { inForce != nil || pending != nil }

    /// Throws an error if a command is invalid.
    func check(_ command: PushCommand) throws(SwitchError) {
        if command.mode != .clear, position(of: command.server) == nil {
            throw SwitchError.unknownServer(command.server, known: members.map(\.id))
        }
        if let last = lastPush, command.version <= last {
            throw SwitchError.staleCommand(version: command.version, last: last)
        }
        guard command.spread >= .zero, command.timeToLive ?? .seconds(1) > .zero else {
            throw SwitchError.invalidCommand("the command must have a timeToLive above 0 and a spread of at least 0")
        }
    }

    /// Stores a command that takes effect at the given time.
    mutating func push(_ command: PushCommand, dueAt time: Double) {
        lastPush = command.version
        pending = PendingPush(command: command, dueAt: time)
    }

    /// Makes the waiting command the current command if it is due, and returns it.
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

    /// Whether the current command has expired.
    func isCommandOver(at time: Double) -> Bool { inForce.map { time >= $0.until } ?? false }

    /// Ends the current command, and restores the order.
    mutating func endCommand() {
        inForce = nil
        restoreOrder()
    }

    /// Forgets the current command.
    ///
    /// The order is unchanged until ``prefer(_:)`` changes it.
    mutating func dropCommand() { inForce = nil }

    /// Returns the order with the server of a command first, or last if the command avoids that server.
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
    /// Returns the position in the current list of each server of a new list, or `nil` for a new server.
    func positions(of members: [SwitchingCore.Member]) -> [Int?] { members.map { position(of: $0.id) } }

    /// Replaces the list of servers.
    ///
    /// The command that currently applies stays in effect.
    ///
    /// - Returns: Whether the preferred server is in the new list. If not, the core must choose another preferred
    ///   server.
    mutating func replace(_ members: [SwitchingCore.Member]) -> Bool {
        let previous = currentID
        let forced = forced.map { self.members[$0].id }
        let led = inForce == nil ? nil : lead.map { self.members[Int($0)].id }
        self.members = members
        arrange()
        lead = members.firstIndex { $0.id == led }.map { UInt8($0) }
        inForce?.forced = members.firstIndex { $0.id == forced }
        if let command = inForce?.command { order = steered(by: command) }
        guard let position = position(of: previous), layout.generalists.contains(position) else { return false }
        current = UInt8(position)
        if !failsBack { turnRing(to: current) }
        return true
    }

    /// Puts the servers of a zone first, or restores the order of the list if the zone is `nil`.
    mutating func prefer(zone: String?) {
        self.zone = zone
        arrange()
        if let command = inForce?.command { order = steered(by: command) } else if let lead { prefer(Int(lead)) }
        if !failsBack, lead == nil, inForce == nil { turnRing(to: order[0]) }
    }

    private mutating func arrange() {
        (cursor, starts) = (nil, [:])
        layout = ServerLayout(members, by: selection, preferring: zone, installation: installation)
        order = layout.order
    }
}
