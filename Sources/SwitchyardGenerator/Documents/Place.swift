/// A value in a document, with the way to it.
struct Place: Sendable {
    /// The file, as errors name it.
    let file: String
    /// The JSON pointer of the value.
    let pointer: String
    /// The value.
    let node: Node

    /// The key under which what is made of this place is kept.
    var key: String { "\(file)#\(pointer)" }

    /// The place of a member; `nil` if there is none or it is `null`.
    subscript(key: String) -> Place? {
        guard let child = node[key], !child.isNull else { return nil }
        return self.child(key, child)
    }

    /// The members as places, in the order of the document.
    var members: [(key: String, place: Place)] {
        node.members.map { ($0.key, child($0.key, $0.value)) }
    }

    /// The elements as places; empty if this is no list.
    var elements: [Place] {
        (node.list ?? []).enumerated().map { child(String($0.offset), $0.element) }
    }

    private func child(_ key: String, _ node: Node) -> Place {
        let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
        return Place(file: file, pointer: "\(pointer)/\(escaped)", node: node)
    }

    /// An error about this value.
    func error(_ message: String) -> GeneratorError {
        GeneratorError(
            message,
            file: file,
            line: node.position.line,
            column: node.position.column,
            pointer: pointer
        )
    }

    // MARK: - Typed members

    /// The string under a key; `nil` if there is none.
    ///
    /// - Throws: ``GeneratorError`` if the value is no string.
    func string(_ key: String) throws(GeneratorError) -> String? {
        guard let child = self[key] else { return nil }
        guard let text = child.node.string else {
            throw child.error("\"\(key)\" must be a string, not \(child.node.kindName)")
        }
        return text
    }

    /// The text of a scalar under a key, of any kind; `nil` if there is none.
    func text(_ key: String) -> String? { self[key]?.node.scalarText }

    /// The Boolean under a key; `false` if there is none.
    func flag(_ key: String) throws(GeneratorError) -> Bool {
        guard let child = self[key] else { return false }
        guard let flag = child.node.bool else {
            throw child.error("\"\(key)\" must be true or false, not \(child.node.kindName)")
        }
        return flag
    }

    /// The object under a key; `nil` if there is none.
    func object(_ key: String) throws(GeneratorError) -> Place? {
        guard let child = self[key] else { return nil }
        guard child.node.isMap else { throw child.error("\"\(key)\" must be an object, not \(child.node.kindName)") }
        return child
    }

    /// The elements of the list under a key; empty if there is none.
    func list(_ key: String) throws(GeneratorError) -> [Place] {
        guard let child = self[key] else { return [] }
        guard child.node.list != nil else { throw child.error("\"\(key)\" must be a list, not \(child.node.kindName)") }
        return child.elements
    }
}
