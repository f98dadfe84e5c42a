public import SwitchyardAPI
public import SwitchyardServices

/// The shape that a JSON value must have: its type, the shapes of its members or elements, and limits such as a length.
///
///     let user = JSONShape.object([
///         "id": .integer,
///         "name": .string.length(1...40),
///         "nick": .optional(.string),            // may be missing
///         "boss": .nullable(.object([:])),       // must be there, may be null
///     ])
///     let answer = JSONShape.object(["users": .array(of: user)])
public struct JSONShape: Sendable {
    /// The treatment of members that an object's shape does not name.
    public indirect enum Others: Sendable {
        /// Members that the shape does not name are ignored. This is the default.
        case allowed
        /// Members that the shape does not name are a violation of the shape.
        case forbidden
        /// Members that the shape does not name must have this other shape.
        case shaped(JSONShape)
    }

    /// The kind of value that the shape requires, with the shapes of its parts.
    indirect enum Kind: Sendable {
        case any
        case null
        case bool
        case number
        case integer
        case string
        case object([String: JSONShape], others: Others)
        case array(JSONShape)
        case nullable(JSONShape)
        case anyOf([JSONShape])
    }

    let kind: Kind
    private(set) var rules: [ShapeRule] = []
    private(set) var isOptional = false

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// Any value.
    public static let any = JSONShape(.any)
    /// `null`.
    public static let null = JSONShape(.null)
    /// A Boolean.
    ///
    /// Numbers do not match.
    public static let bool = JSONShape(.bool)
    /// A number.
    ///
    /// Booleans do not match.
    public static let number = JSONShape(.number)
    /// A whole number.
    ///
    /// `1.0` matches.
    public static let integer = JSONShape(.integer)
    /// A string.
    public static let string = JSONShape(.string)

    /// Returns the shape of an object with these members.
    ///
    /// A member is required unless its shape is ``optional(_:)``.
    public static func object(_ members: [String: JSONShape] = [:], others: Others = .allowed) -> JSONShape {
        JSONShape(.object(members, others: others))
    }

    /// Returns the shape of an array whose elements all have the given shape.
    public static func array(of element: JSONShape = .any) -> JSONShape {
        JSONShape(.array(element))
    }

    /// Returns the shape of an object's member that may be missing.
    ///
    /// Outside an object, it is the same as the given shape.
    public static func optional(_ shape: JSONShape) -> JSONShape {
        var copy = shape
        copy.isOptional = true
        return copy
    }

    /// This shape for a member that must be present, even if this shape is ``optional(_:)``.
    public var required: JSONShape {
        var copy = self
        copy.isOptional = false
        return copy
    }

    /// Returns a shape that also accepts `null`.
    public static func nullable(_ shape: JSONShape) -> JSONShape {
        JSONShape(.nullable(shape))
    }

    /// Returns a shape for values that have at least one of the given shapes.
    public static func anyOf(_ shapes: [JSONShape]) -> JSONShape {
        JSONShape(.anyOf(shapes))
    }

    func adding(_ rule: ShapeRule) -> JSONShape {
        var copy = self
        copy.rules.append(rule)
        return copy
    }
}

extension JSONShape {
    /// Checks that a value has this shape.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - keyPath: The key path of the value in the response, used in the error.
    /// - Throws: ``/SwitchyardAPI/ShapeViolation`` for the first violation. The members of an object are checked in the
    ///   order of their names.
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

    /// Returns whether a value has this shape.
    public func accepts(_ value: JSONValue) -> Bool {
        do throws(ShapeViolation) {
            try check(value)
            return true
        } catch {
            return false
        }
    }

    private func check(
        _ members: JSONMembers,
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
        for (key, member) in members.inOrder where shapes[key] == nil {
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

    /// The required kind of value in words, for the error.
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
