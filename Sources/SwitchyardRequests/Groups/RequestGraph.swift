import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// A graph of requests with dependencies.
///
/// Each request starts as soon as the requests that it depends on have succeeded.
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
/// on the failed member.
public final class RequestGraph: GroupMember {
    private struct Node {
        var name: String
        var member: any GroupMember
        var dependencies: [String]
    }

    private struct State {
        var nodes: [Node] = []
        var names: Set<String> = []
        /// Whether the nodes have been added to the group as members, or are being added.
        var hasEntered = false
        /// Whether the dependencies have been set on the group, so that the group may start.
        var isReady = false

        /// Returns the nodes to add to the group, or `nil` if they were already added.
        mutating func enter() -> [Node]? {
            guard !hasEntered else { return nil }
            hasEntered = true
            return nodes
        }
    }

    /// The graph as a group, which provides its members, progress, observers and state.
    public let group: RequestGroup
    private let contents: Locked<State>

    /// Creates an empty graph.
    ///
    /// By default, the first failure ends the graph.
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

    /// Adds a member.
    ///
    /// The member must be added before the start.
    ///
    /// - Parameters:
    ///   - member: The member.
    ///   - name: The name by which other members depend on this member.
    ///   - dependencies: The names of the members that must succeed before this member starts.
    /// - Throws: ``GraphError/duplicateName(_:)`` or ``GraphError/started``. If the member is this graph or contains
    ///   this graph, ``GraphError/cycle(_:)`` with only the name of the member.
    public func add(
        _ member: some GroupMember,
        named name: String,
        after dependencies: [String] = []
    ) throws(GraphError) {
        guard group.state == .initialized else { throw .started }
        let node = Node(name: name, member: member, dependencies: dependencies)
        guard let nest = member as? any MemberNest else { return try insert(node) }
        // The lock covers both the check for a cycle and the insertion, so that two graphs cannot become members of
        // each other.
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

    /// Checks the graph and starts the members without dependencies.
    ///
    /// - Throws: ``GraphError`` if the graph is invalid. No member was started in this case.
    public func start() throws(GraphError) {
        guard group.state == .initialized else { throw .started }
        try Self.enter(contents, into: group)
        guard group.resume() else { throw .started }
    }

    /// Starts the members without dependencies.
    ///
    /// If the graph is invalid, it ends as failed.
    @discardableResult
    public func resume() -> Bool { group.resume() }

    /// Cancels the running members.
    ///
    /// The members that were not started end as cancelled, even if the graph was not started.
    public func cancel() { group.cancel() }

    /// Calls the observer once, when the graph has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { group.whenEnded(observer) }

    /// Adds a handler for the end of the graph.
    ///
    /// If the graph has already ended, the handler is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (GroupReport) -> Void) -> RequestGraph {
        group.onFinish(handler)
        return self
    }

    /// Adds an observer (``RequestAccessory``) of the graph itself.
    ///
    /// The observer must be added before the start.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestGraph {
        group.adding(accessory)
        return self
    }

    /// Starts the graph and waits until it has ended.
    ///
    /// Cancelling the task cancels the graph.
    ///
    /// - Returns: The outcomes of all members, in the order in which they were added.
    /// - Throws: ``GraphError`` if the graph is invalid.
    public func finished() async throws(GraphError) -> GroupReport {
        if group.state == .initialized {
            do throws(GraphError) { try start() } catch { if error != .started { throw error } }
        }
        // Another task that is starting the graph may not have set the dependencies yet, so this task must not start
        // the members.
        return await group.ended()
    }
}

/// The reason why a graph of requests is invalid or cannot be changed.
public enum GraphError: Error, Sendable, Hashable {
    /// Two members have the same name.
    case duplicateName(String)
    /// A member depends on a name that no member has.
    case unknownName(String, dependent: String)
    /// Members depend on each other in a cycle. The names are listed so that each member depends on the next member.
    case cycle([String])
    /// The graph was already started.
    case started
}

extension GraphError: CustomStringConvertible {
    /// A description of the error with the names of the members.
    public var description: String {
        switch self {
        case .duplicateName(let name): "two members are named \(name), but names must be unique"
        case .unknownName(let name, let dependent): "\(dependent) depends on \(name), which is not a member"
        case .cycle(let names): "members depend on each other in a circle: \(names.joined(separator: ", "))"
        case .started: "the graph has already been started"
        }
    }
}

// MARK: - Adding the nodes to the group

extension RequestGraph {
    /// Adds the nodes to the group unless they were added before, and returns `false` if the group must not start now.
    private static func prepare(_ group: RequestGroup, _ contents: Locked<State>) -> Bool {
        do throws(GraphError) {
            try enter(contents, into: group)
        } catch {
            if error != .started { group.stop(.failed(member: nil)) }
        }
        return contents.withLock { $0.isReady }
    }

    /// Adds the nodes to the group and sets their dependencies.
    private static func enter(_ contents: Locked<State>, into group: RequestGroup) throws(GraphError) {
        // The nodes are checked and taken under one lock, so that no unchecked node can be added in between.
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
    /// - Returns: The positions of the nodes in the group, or `nil` if the group ended before all nodes were appended.
    ///   In this case, the members of the nodes that were not appended have been cancelled.
    @discardableResult
    private static func append(_ nodes: [Node], to group: RequestGroup) -> [Int]? {
        var places: [Int] = []
        for node in nodes {
            if let place = group.append(node.member) { places.append(place) } else { node.member.cancel() }
        }
        return places.count == nodes.count ? places : nil
    }

    /// Returns the positions of the dependencies of each member, and throws if the graph is invalid.
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
    /// Sets the dependencies of the members at these positions.
    ///
    /// The call has no effect after the start.
    func require(_ dependencies: [Set<Int>], at places: [Int]) {
        let required = zip(places, dependencies).map { place, own in (place, own.map { places[$0] }) }
        contents.withLock { $0.plan.require(required) }
    }
}

/// A search for cycles in dependencies, without recursion so that long chains do not overflow the stack.
enum DependencyCycle {
    private enum Mark { case unseen, open, done }

    /// Returns a cycle in the dependencies, or `nil` if there is none.
    ///
    /// - Parameter dependencies: For each position, the positions that it depends on.
    /// - Returns: The positions of a cycle. Each position depends on the next one, and the last on the first.
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
