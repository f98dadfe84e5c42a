import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardServices

/// Requests of which some need others first: each starts as soon as those that it depends on have succeeded.
///
///     let login = users.request(Token.self, for: .login)
///     let graph = RequestGraph()
///     try graph.add(login, named: "login")
///     try graph.add(APIRequest { try await users.me(login.value()) }, named: "me", after: ["login"])
///     try graph.add(topics.request([Topic].self, for: .topics), named: "topics")
///     try graph.start()
///
/// Names may be used before they are added; circles, unknown names and names that are there twice are errors. The first
/// failure ends it unless the policy is ``GroupPolicy/collectAll``: then only what depends on the failed one is
/// cancelled.
public final class RequestGraph: GroupMember {
    private struct Node {
        var name: String
        var member: any GroupMember
        var dependencies: [String]
    }

    private struct State {
        var nodes: [Node] = []
        var names: Set<String> = []
        /// Whether the nodes are members of the group, or are being made so.
        var hasEntered = false
        /// Whether the group knows who needs whom, and may start.
        var isReady = false

        /// The nodes, to be made members of the group; `nil` when they are.
        mutating func enter() -> [Node]? {
            guard !hasEntered else { return nil }
            hasEntered = true
            return nodes
        }
    }

    /// The graph as a group: members, progress, accessories, state.
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

    /// Adds a member; after the start it is too late.
    ///
    /// - Parameters:
    ///   - member: The member.
    ///   - name: The name by which others depend on it.
    ///   - dependencies: The names of those that have to succeed first.
    /// - Throws: ``GraphError/duplicateName(_:)``, ``GraphError/started``, or ``GraphError/cycle(_:)`` with this one name
    ///   when the member is this graph or holds it.
    public func add(
        _ member: some GroupMember,
        named name: String,
        after dependencies: [String] = []
    ) throws(GraphError) {
        guard group.state == .initialized else { throw .started }
        let node = Node(name: name, member: member, dependencies: dependencies)
        guard let nest = member as? any MemberNest else { return try insert(node) }
        // In one step, so that no two graphs enter each other.
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

    /// Starts what depends on nothing.
    ///
    /// - Throws: ``GraphError``; then nothing was started.
    public func start() throws(GraphError) {
        guard group.state == .initialized else { throw .started }
        try Self.enter(contents, into: group)
        guard group.resume() else { throw .started }
    }

    /// Starts what depends on nothing; a graph that cannot be carried out fails.
    @discardableResult
    public func resume() -> Bool { group.resume() }

    /// Cancels what is under way and drops the rest; every member ends, also before the start.
    public func cancel() { group.cancel() }

    /// Calls back once when the graph has ended and all handlers have been called.
    public func whenEnded(_ observer: @escaping @Sendable (MemberOutcome) -> Void) { group.whenEnded(observer) }

    /// Adds a handler for the end; one that is added after it is called soon.
    @discardableResult
    public func onFinish(_ handler: @escaping @Sendable (GroupReport) -> Void) -> RequestGraph {
        group.onFinish(handler)
        return self
    }

    /// Adds an accessory of the graph itself; after the start it is too late.
    @discardableResult
    public func adding(_ accessory: some RequestAccessory) -> RequestGraph {
        group.adding(accessory)
        return self
    }

    /// Starts the graph, and waits for its end; cancelling the task cancels it.
    ///
    /// - Returns: What became of every member, in the order in which they were added.
    /// - Throws: ``GraphError``.
    public func finished() async throws(GraphError) -> GroupReport {
        if group.state == .initialized {
            do throws(GraphError) { try start() } catch { if error != .started { throw error } }
        }
        // Whoever else is starting it has not said yet who needs whom: it is not for this one to let them go.
        return await group.ended()
    }
}

/// Why a graph of requests cannot be carried out.
public enum GraphError: Error, Sendable, Hashable {
    /// Two members have one name.
    case duplicateName(String)
    /// A member depends on a name that nobody has.
    case unknownName(String, dependent: String)
    /// Members depend on each other in a circle, given from one of them round to the one before it.
    case cycle([String])
    /// The graph has been started.
    case started
}

extension GraphError: CustomStringConvertible {
    /// What is wrong, with the names of the members.
    public var description: String {
        switch self {
        case .duplicateName(let name): "two members are named \(name)"
        case .unknownName(let name, let dependent): "\(dependent) depends on \(name), which is no member"
        case .cycle(let names): "members depend on each other in a circle: \(names.joined(separator: ", "))"
        case .started: "the graph has been started"
        }
    }
}

// MARK: - Nodes become members

extension RequestGraph {
    /// Makes the nodes members of the group unless they are; `false` when the group must not start now.
    private static func prepare(_ group: RequestGroup, _ contents: Locked<State>) -> Bool {
        do throws(GraphError) {
            try enter(contents, into: group)
        } catch {
            if error != .started { group.stop(.failed(member: nil)) }
        }
        return contents.withLock { $0.isReady }
    }

    /// Makes the nodes members of the group, with what they need.
    private static func enter(_ contents: Locked<State>, into group: RequestGroup) throws(GraphError) {
        // In one step: the nodes that enter are those that were checked, whatever is being added.
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

    /// Makes the nodes members of the group, behind those that the group has already.
    ///
    /// - Returns: Where they stand in the group; `nil` when it was too late for one of them, which has been cancelled.
    @discardableResult
    private static func append(_ nodes: [Node], to group: RequestGroup) -> [Int]? {
        var places: [Int] = []
        for node in nodes {
            if let place = group.append(node.member) { places.append(place) } else { node.member.cancel() }
        }
        return places.count == nodes.count ? places : nil
    }

    /// The positions that each member depends on, if that makes sense.
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
    /// Lets the members at some places wait for others of them; before the start only.
    func require(_ dependencies: [Set<Int>], at places: [Int]) {
        let required = zip(places, dependencies).map { place, own in (place, own.map { places[$0] }) }
        contents.withLock { $0.plan.require(required) }
    }
}

/// Looks for circles among dependencies, without recursion, so that long chains do no harm.
enum DependencyCycle {
    private enum Mark { case unseen, open, done }

    /// Looks for a circle.
    ///
    /// - Parameter dependencies: The positions that each position depends on.
    /// - Returns: Positions of which each depends on the next and the last on the first; `nil` when there are none.
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
