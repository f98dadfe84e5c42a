/// A value of a JSON or YAML document, with the position at which it starts.
final class Node: Sendable {
    let value: Value
    /// The position of the first character.
    let position: Position
    /// The number of nodes in this tree.
    ///
    /// If an alias repeats a node, the node is counted again each time.
    let weight: Int
    private let index: [String: Int]

    /// The kinds of values.
    enum Value: Sendable {
        case null
        case bool(Bool)
        /// A number as it is written in the document.
        case number(String)
        case string(String)
        case list([Node])
        /// A map, with its members in the order of the document.
        case map([Member])
    }

    /// A member of a map.
    struct Member: Sendable {
        let key: String
        let value: Node
    }

    init(_ value: Value, at position: Position) {
        self.value = value
        self.position = position
        switch value {
        case .list(let elements):
            weight = elements.reduce(1) { $0.addingClamped($1.weight) }
            index = [:]
        case .map(let members):
            weight = members.reduce(1) { $0.addingClamped($1.value.weight) }
            index = Dictionary(members.enumerated().map { ($1.key, $0) }) { first, _ in first }
        default:
            weight = 1
            index = [:]
        }
    }

    /// Returns the value of a member, or `nil` if the member does not exist or this is not a map.
    subscript(key: String) -> Node? {
        guard case .map(let members) = value, let place = index[key] else { return nil }
        return members[place].value
    }

    /// The members in the order of the document, or an empty array if the value is not a map.
    var members: [Member] { if case .map(let members) = value { members } else { [] } }
    /// The elements, or `nil` if the value is not a list.
    var list: [Node]? { if case .list(let list) = value { list } else { nil } }
    /// The string, or `nil` if the value is not a string.
    var string: String? { if case .string(let string) = value { string } else { nil } }
    /// The Boolean, or `nil` if the value is not a Boolean.
    var bool: Bool? { if case .bool(let bool) = value { bool } else { nil } }
    var isMap: Bool { if case .map = value { true } else { false } }
    var isNull: Bool { if case .null = value { true } else { false } }

    /// The text of a string, number or Boolean, or `nil` for other values.
    var scalarText: String? {
        switch value {
        case .string(let text), .number(let text): text
        case .bool(let bool): bool ? "true" : "false"
        case .null: "null"
        case .list, .map: nil
        }
    }

    /// The kind of the value for error messages.
    var kindName: String {
        switch value {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .list: "a list"
        case .map: "an object"
        }
    }
}

/// A position in a text.
///
/// Lines and columns are counted from 1.
struct Position: Sendable, Hashable {
    var line: Int
    var column: Int
}

/// The reason why a text is not valid JSON or YAML, with its position.
struct ReadingError: Error, Equatable {
    var message: String
    var line: Int
    var column: Int

    init(_ message: String, at position: Position) {
        self.message = message
        line = position.line
        column = position.column
    }
}

/// The limits of the JSON and YAML parsers.
struct ReadingLimits: Sendable {
    /// The maximum nesting depth of lists and maps.
    var depth = 200
    /// The maximum number of nodes that are repeated by all aliases of a document together.
    var aliasedNodes = 1_000_000
    /// The maximum size of a document in bytes.
    var bytes = 200_000_000
}

extension Int {
    /// Returns the sum, or `Int.max` if the sum is out of range.
    func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
