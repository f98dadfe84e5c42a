/// A place in the tree that an encoder fills; containers keep a reference to it while they are open.
///
/// Lives on one thread during one call of `encode` and never leaves it.
final class ParameterNode {
    enum Content {
        case empty
        case value(ParameterValue)
        case keyed([(key: String, node: ParameterNode)], positions: [String: Int])
        case unkeyed([ParameterNode])
    }

    var content = Content.empty

    /// The finished value; what was never written is `null`, as is the value of an optional that encodes nothing.
    var value: ParameterValue {
        switch content {
        case .empty: .null
        case .value(let value): value
        case .keyed(let members, _):
            .dictionary(Parameters(members.map { Parameters.Item(key: $0.key, value: $0.node.value) }))
        case .unkeyed(let elements): .array(elements.map(\.value))
        }
    }

    func becomeKeyed() {
        if case .keyed = content { return }
        content = .keyed([], positions: [:])
    }

    func becomeUnkeyed() {
        if case .unkeyed = content { return }
        content = .unkeyed([])
    }

    /// The member of that name, made when it is not there; writing a name again replaces its value.
    func member(_ key: String) -> ParameterNode {
        guard case .keyed(var members, var positions) = content else { return ParameterNode() }
        if let position = positions[key] { return members[position].node }
        content = .empty
        let node = ParameterNode()
        positions[key] = members.count
        members.append((key, node))
        content = .keyed(members, positions: positions)
        return node
    }

    /// A new element at the end.
    func appendElement() -> ParameterNode {
        guard case .unkeyed(var elements) = content else { return ParameterNode() }
        content = .empty
        let node = ParameterNode()
        elements.append(node)
        content = .unkeyed(elements)
        return node
    }

    /// Puts the elements in the one order of a set's.
    func putElementsInOrder() {
        guard case .unkeyed(let elements) = content else { return }
        content = .value(.array(elements.map(\.value).inSetOrder))
    }

    /// Puts the members in ascending order of their names, the one order of a dictionary's.
    func putMembersInOrder() {
        guard case .keyed = content, case .dictionary(let parameters) = value else { return }
        content = .value(.dictionary(Parameters(parameters.items.stablySortedByKey)))
    }

    /// Puts the members of a dictionary in order whose keys are no names: Swift encodes it as a list, each key in front of
    /// its value.
    func putPairsInOrder() {
        guard case .unkeyed(let elements) = content, elements.count.isMultiple(of: 2) else { return }
        let values = elements.map(\.value)
        let pairs = stride(from: 0, to: values.count, by: 2).map { (key: values[$0], value: values[$0 + 1]) }
        content = .value(.array(pairs.inSetOrder(by: \.key).flatMap { [$0.key, $0.value] }))
    }

    var elementCount: Int {
        if case .unkeyed(let elements) = content { return elements.count }
        return 0
    }
}
