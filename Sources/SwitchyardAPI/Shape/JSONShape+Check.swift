extension JSONShape {
    /// Checks a value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - keyPath: Where the value stands, for the error.
    /// - Throws: ``ShapeViolation`` for the first place that differs, members in the order of their names.
    public func check(_ value: JSONValue, at keyPath: String = "") throws(ShapeViolation) {
        try checkKind(of: value, at: keyPath)
        for rule in rules where !rule.holds(value) { throw ShapeViolation(.rule(rule.name), keyPath: keyPath) }
    }

    private func checkKind(of value: JSONValue, at keyPath: String) throws(ShapeViolation) {
        switch (kind, value) {
        case (.any, _), (.null, .null), (.bool, .bool), (.number, .number), (.string, .string), (.nullable, .null):
            return
        case (.integer, .number(let number)) where number.isInteger:
            return
        case (.object(let shapes, let others), .object(let members)):
            try check(members, shapes, others, at: keyPath)
        case (.array(let shape), .array(let elements)):
            for (index, element) in elements.enumerated() { try shape.check(element, at: "\(keyPath)[\(index)]") }
        case (.nullable(let shape), _):
            try shape.check(value, at: keyPath)
        case (.anyOf(let shapes), _):
            guard !shapes.contains(where: { $0.accepts(value) }) else { return }
            throw mismatch(value, at: keyPath)
        default:
            throw mismatch(value, at: keyPath)
        }
    }

    /// Whether a value has the shape.
    public func accepts(_ value: JSONValue) -> Bool {
        do throws(ShapeViolation) {
            try check(value)
            return true
        } catch {
            return false
        }
    }

    private func check(
        _ members: [String: JSONValue],
        _ shapes: [String: JSONShape],
        _ others: Others,
        at keyPath: String
    ) throws(ShapeViolation) {
        func path(_ key: String) -> String { keyPath.isEmpty ? key : "\(keyPath).\(key)" }
        for (key, shape) in shapes.sorted(by: { $0.key < $1.key }) {
            if let member = members[key] {
                try shape.check(member, at: path(key))
            } else if !shape.isOptional {
                throw ShapeViolation(.missingKey, keyPath: path(key))
            }
        }
        for (key, member) in members.sorted(by: { $0.key < $1.key }) where shapes[key] == nil {
            switch others {
            case .allowed: return
            case .forbidden: throw ShapeViolation(.rule("no other members"), keyPath: path(key))
            case .shaped(let shape): try shape.check(member, at: path(key))
            }
        }
    }

    private func mismatch(_ value: JSONValue, at keyPath: String) -> ShapeViolation {
        value.isNull
            ? ShapeViolation(.null, keyPath: keyPath)
            : ShapeViolation(.kind(expected: name, found: value.kindName), keyPath: keyPath)
    }

    /// The kind of value that is expected, in words.
    private var name: String {
        switch kind {
        case .any: "any"
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .integer: "integer"
        case .string: "string"
        case .object: "object"
        case .array: "array"
        case .nullable(let shape): shape.name
        case .anyOf(let shapes): shapes.map(\.name).joined(separator: " or ")
        }
    }
}
