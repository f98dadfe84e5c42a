import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// A graph of requests with dependencies, in which each request starts as soon as the requests that it depends on have
/// succeeded.
///
///     let login = users.request(Token.self, for: .login)
///     let graph = RequestGraph()
///     try graph.add(login, named: "login")
///     try graph.add(APIRequest { try await users.me(login.value()) }, named: "me", after: ["login"])
///     try graph.add(topics.request([Topic].self, for: .topics), named: "topics")
///     try graph.start()
///
/// A member may depend on a name that is added later. Cycles, unknown names and duplicate names are errors. The first
/// failure ends the graph. If the policy is ``GroupPolicy/collectAll``, a failure cancels only the members that depend
/// on the failed one.
public final class RequestGraph: GroupMember {
    private struct Node {
        var name: String
        var member: any GroupMember
        var dependencies: [String]
    }

    private struct State {
        var nodes: [Node] = []
        var names: Set<String> = []
        /// Whether the nodes are members of the group, or are being added to it.
        var hasEntered = false
        /// Whether the group has received the dependencies, so that it may start.
        var isReady = false

        /// Returns the nodes to add to the group, or `nil` if they were already added.
        mutating func enter() -> [Node]? {
            guard !hasEntered else { return nil }
            hasEntered = true
            return nodes
        }
    }

    /// The graph as a group, with members, progress, accessories and state.
    public let group: RequestGroup
    private let contents: Locked<State>

    /// Creates a graph.
    public init(options: GroupOptions = GroupOptions(policy: .failFast)) {
        let contents = Locked(State())
        self.contents = contents
        group = RequestGroup(
            kind: .graph,
            options: options,
            prelude: RequestGroup.Prelude(
                start: { Self.prepare($0, contents) },
                stop: { group in if let nodes = contents.withLock({ $0.enter() }) { Self.append(nodes, to: group) } },
                members: { contents.withLock { $0.nodes.map(\.member) } }
            )
        )
    }

    /// Adds a member, which is possible only before the start.
    ///
    /// - Parameters:
    ///   - member: The member.
    ///   - name: The name by which other members depend on it.
    ///   - dependencies: The names of the members that must succeed first.
    /// - Throws: ``GraphError/duplicateName(_:)``, ``GraphError/started``, or ``GraphError/cycle(_:)`` with this name
    ///   alone if the member is this graph or contains it.
    public func add(
        _ member: some GroupMember,
        named name: String,
        after dependencies: [String] = []
    ) throws(GraphError) {
        guard group.state == .initialized else { throw .started }
        let node = Node(name: name, member: member, dependencies: dependencies)
        guard let nest = member as? any MemberNest else { return try insert(node) }
        // The check and the insertion are one step, so that two graphs cannot become members of each other.
        RequestGroup.nesting.lock()
        defer { RequestGroup.nesting.unlock() }
        if nest.holds(group) { throw .cycle([name]) }
        try insert(node)
    }

    private func insert(_ node: Node) throws(GraphError) {
        try contents.withLock { (state) throws(GraphError) in
            guard !state.hasEntered else { throw .started }
            guard state.names.insert(node.name).inserted else { throw .duplicateName(node.name) }
            state.nodes.append(node)
        }
    }

    /// Starts the members without dependencies.
    ///
    /// - Throws: ``GraphError``, in which case nothing was started.
    public func start() throws(GraphError) {
        guard group.state == .initialized else { throw .started }
        try Self.enter(contents, into: group)
        guard group.resume() else { throw .started }
    }

    /// Starts the members without dependencies; an invalid graph fails.
    @discardableResult
    public func resume() -> Bool { group.resume() }

    /// Cancels the running members and drops the others; every member ends, even before the start.
    public func cancel() { group.cancel() }

    /// Calls the observer once, when the graph has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { group.whenEnded(observer) }

    /// Adds a handler for the end of the graph; if the graph has already ended, the handler is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (GroupReport) -> Void) -> RequestGraph {
        group.onFinish(handler)
        return self
    }

    /// Adds an accessory of the graph itself, which is possible only before the start.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestGraph {
        group.adding(accessory)
        return self
    }

    /// Starts the graph and waits until it has ended; cancelling the task cancels the graph.
    ///
    /// - Returns: The outcomes of all members, in the order in which they were added.
    /// - Throws: ``GraphError``.
    public func finished() async throws(GraphError) -> GroupReport {
        if group.state == .initialized {
            do throws(GraphError) { try start() } catch { if error != .started { throw error } }
        }
        // Another caller that is starting the graph may not have set the dependencies yet, so this caller must not
        // start the members.
        return await group.ended()
    }
}

/// The reason why a graph of requests is invalid or cannot be changed.
public enum GraphError: Error, Sendable, Hashable {
    /// Two members have the same name.
    case duplicateName(String)
    /// A member depends on a name that no member has.
    case unknownName(String, dependent: String)
    /// Members depend on each other in a cycle, listed from one member to the one before it.
    case cycle([String])
    /// The graph was already started.
    case started
}

extension GraphError: CustomStringConvertible {
    /// The error as text, with the names of the members.
    public var description: String {
        switch self {
        case .duplicateName(let name): "two members are named \(name)"
        case .unknownName(let name, let dependent): "\(dependent) depends on \(name), which is not a member"
        case .cycle(let names): "members depend on each other in a circle: \(names.joined(separator: ", "))"
        case .started: "the graph has been started"
        }
    }
}

// MARK: - Adding the nodes to the group

extension RequestGraph {
    /// Adds the nodes to the group if this has not happened yet, and returns `false` if the group must not start now.
    private static func prepare(_ group: RequestGroup, _ contents: Locked<State>) -> Bool {
        do throws(GraphError) {
            try enter(contents, into: group)
        } catch {
            if error != .started { group.stop(.failed(member: nil)) }
        }
        return contents.withLock { $0.isReady }
    }

    /// Adds the nodes to the group, with their dependencies.
    private static func enter(_ contents: Locked<State>, into group: RequestGroup) throws(GraphError) {
        // The nodes are checked and taken in one step, so that a node that is added meanwhile cannot slip in unchecked.
        let (nodes, order) = try contents.withLock { state throws(GraphError) in
            guard !state.hasEntered else { throw .started }
            let order = try checked(state.nodes)
            state.hasEntered = true
            return (state.nodes, order)
        }
        guard let places = append(nodes, to: group) else { throw .started }
        group.require(order, at: places)
        contents.withLock { $0.isReady = true }
    }

    /// Appends the nodes to the members of the group.
    ///
    /// - Returns: The positions of the nodes in the group, or `nil` if the group had already ended for one of them,
    ///   which has been cancelled.
    @discardableResult
    private static func append(_ nodes: [Node], to group: RequestGroup) -> [Int]? {
        var places: [Int] = []
        for node in nodes {
            if let place = group.append(node.member) { places.append(place) } else { node.member.cancel() }
        }
        return places.count == nodes.count ? places : nil
    }

    /// Returns the positions that each member depends on, and throws if the graph is invalid.
    private static func checked(_ nodes: [Node]) throws(GraphError) -> [Set<Int>] {
        let positions = Dictionary(uniqueKeysWithValues: zip(nodes.map(\.name), nodes.indices))
        var dependencies: [Set<Int>] = []
        for node in nodes {
            var own: Set<Int> = []
            for name in node.dependencies {
                guard let position = positions[name] else { throw .unknownName(name, dependent: node.name) }
                own.insert(position)
            }
            dependencies.append(own)
        }
        if let cycle = DependencyCycle.find(in: dependencies) { throw .cycle(cycle.map { nodes[$0].name }) }
        return dependencies
    }
}

extension RequestGroup {
    /// Sets the dependencies of the members at some positions, before the start only.
    func require(_ dependencies: [Set<Int>], at places: [Int]) {
        let required = zip(places, dependencies).map { place, own in (place, own.map { places[$0] }) }
        contents.withLock { $0.plan.require(required) }
    }
}

/// A search for cycles in dependencies, without recursion so that long chains do not overflow the stack.
enum DependencyCycle {
    private enum Mark { case unseen, open, done }

    /// Finds a cycle.
    ///
    /// - Parameter dependencies: The positions that each position depends on.
    /// - Returns: The positions of a cycle, in which each position depends on the next and the last one on the first,
    ///   or `nil` if there is no cycle.
    static func find(in dependencies: [Set<Int>]) -> [Int]? {
        var marks = [Mark](repeating: .unseen, count: dependencies.count)
        for start in dependencies.indices where marks[start] == .unseen {
            var path: [(position: Int, rest: [Int])] = [(start, dependencies[start].sorted())]
            marks[start] = .open
            while let next = path.last?.rest.last {
                path[path.count - 1].rest.removeLast()
                switch marks[next] {
                case .done: break
                case .open: return circle(in: path.map(\.position), from: next)
                case .unseen:
                    marks[next] = .open
                    path.append((next, dependencies[next].sorted()))
                }
                while let last = path.last, last.rest.isEmpty {
                    marks[last.position] = .done
                    path.removeLast()
                }
            }
            marks[start] = .done
        }
        return nil
    }

    private static func circle(in path: [Int], from start: Int) -> [Int] {
        Array(path[(path.firstIndex(of: start) ?? 0)...])
    }
}
