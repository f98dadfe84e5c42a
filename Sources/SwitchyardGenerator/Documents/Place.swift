/// A value in a document, together with the file that contains it and its JSON pointer.
struct Place: Sendable {
    /// The name of the file that error messages show.
    let file: String
    /// The JSON pointer of the value.
    let pointer: String
    let node: Node

    /// A text that identifies the value by file and pointer, used as a key in dictionaries.
    var key: String { "\(file)#\(pointer)" }

    /// Returns the value of a member, or `nil` if the member does not exist or is `null`.
    subscript(key: String) -> Place? {
        guard let child = node[key], !child.isNull else { return nil }
        return self.child(key, child)
    }

    /// The members of the value, in the order of the document.
    ///
    /// Empty if the value is not a map.
    var members: [(key: String, place: Place)] {
        node.members.map { ($0.key, child($0.key, $0.value)) }
    }

    /// The elements of the value, or an empty array if the value is not a list.
    var elements: [Place] {
        (node.list ?? []).enumerated().map { child(String($0.offset), $0.element) }
    }

    private func child(_ key: String, _ node: Node) -> Place {
        let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
        return Place(file: file, pointer: "\(pointer)/\(escaped)", node: node)
    }

    /// Returns an error with this message and the location of this value.
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

    /// Returns the string of the member `key`, or `nil` if there is no such member.
    ///
    /// - Throws: ``GeneratorError`` if the value is not a string.
    func string(_ key: String) throws(GeneratorError) -> String? {
        guard let child = self[key] else { return nil }
        guard let text = child.node.string else {
            throw child.error("\"\(key)\" must be a string, not \(child.node.kindName)")
        }
        return text
    }

    /// Returns the text of the member `key` (a string, number or Boolean), or `nil` if there is no such member.
    func text(_ key: String) -> String? { self[key]?.node.scalarText }

    /// Returns the Boolean of the member `key`, or `false` if there is no such member.
    func flag(_ key: String) throws(GeneratorError) -> Bool {
        guard let child = self[key] else { return false }
        guard let flag = child.node.bool else {
            throw child.error("\"\(key)\" must be true or false, not \(child.node.kindName)")
        }
        return flag
    }

    /// Returns the object of the member `key`, or `nil` if there is no such member.
    func object(_ key: String) throws(GeneratorError) -> Place? {
        guard let child = self[key] else { return nil }
        guard child.node.isMap else { throw child.error("\"\(key)\" must be an object, not \(child.node.kindName)") }
        return child
    }

    /// Returns the elements of the list in the member `key`, or an empty array if there is no such member.
    func list(_ key: String) throws(GeneratorError) -> [Place] {
        guard let child = self[key] else { return [] }
        guard child.node.list != nil else { throw child.error("\"\(key)\" must be a list, not \(child.node.kindName)") }
        return child.elements
    }
}
