/// A parsed JSON value that still knows the order of its keys.
enum JSONValue: Equatable {
    case object([(key: String, value: JSONValue)])
    case array([JSONValue])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    /// The type's name, with its article, for messages.
    var kind: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }

    static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.object(let one), .object(let other)):
            one.elementsEqual(other) { $0.key == $1.key && $0.value == $1.value }
        case (.array(let one), .array(let other)): one == other
        case (.string(let one), .string(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.bool(let one), .bool(let other)): one == other
        case (.null, .null): true
        default: false
        }
    }
}
