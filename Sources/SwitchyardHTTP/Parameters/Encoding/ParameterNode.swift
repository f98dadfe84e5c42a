/// A node in the tree that an encoder builds.
///
/// Containers keep a reference to their node while they are open. A node is used on one thread during one call of
/// `encode` and never leaves the call.
final class ParameterNode {
    enum Content {
        case empty
        case value(ParameterValue)
        case keyed([(key: String, node: ParameterNode)], positions: [String: Int])
        case unkeyed([ParameterNode])
    }

    var content = Content.empty

    /// The finished value, which is `null` if nothing has been encoded into the node.
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

    /// Returns the member with a name and creates it if it does not exist.
    ///
    /// Encoding a name again replaces its value.
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

    /// Appends a new element and returns it.
    func appendElement() -> ParameterNode {
        guard case .unkeyed(var elements) = content else { return ParameterNode() }
        content = .empty
        let node = ParameterNode()
        elements.append(node)
        content = .unkeyed(elements)
        return node
    }

    /// Sorts the elements of a set, so that equal sets give equal lists.
    func putElementsInOrder() {
        guard case .unkeyed(let elements) = content else { return }
        content = .value(.array(elements.map(\.value).inSetOrder))
    }

    /// Sorts the members of a dictionary by their names in ascending order.
    func putMembersInOrder() {
        guard case .keyed = content, case .dictionary(let parameters) = value else { return }
        content = .value(.dictionary(Parameters(parameters.items.stablySortedByKey)))
    }

    /// Sorts the entries of a dictionary whose keys are not strings.
    ///
    /// Swift encodes such a dictionary as a list in which each value follows its key.
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
