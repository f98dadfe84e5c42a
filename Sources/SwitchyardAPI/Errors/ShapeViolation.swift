/// Where and how a JSON value differs from the shape that was declared.
public struct ShapeViolation: Error, Sendable, Hashable {
    /// How it differs.
    public enum Kind: Sendable, Hashable {
        /// A required key is missing.
        case missingKey
        /// The value is null where none is allowed.
        case null
        /// The value is of another kind.
        case kind(expected: String, found: String)
        /// The value has the kind expected, but breaks a rule: a range, a length, a pattern, a choice.
        case rule(String)
    }

    /// How it differs.
    public var kind: Kind
    /// The place, from the root of the body: `data.items[3].name`; empty is the root itself.
    public var keyPath: String

    /// Creates a violation.
    package init(_ kind: Kind, keyPath: String) {
        self.kind = kind
        self.keyPath = keyPath
    }
}

extension ShapeViolation: CustomStringConvertible {
    /// How it differs, and where.
    public var description: String {
        let place = keyPath.isEmpty ? "at the root" : "at \(keyPath)"
        return switch kind {
        case .missingKey: "key missing \(place)"
        case .null: "null \(place)"
        case .kind(let expected, let found): "\(found) in place of \(expected) \(place)"
        case .rule(let rule): "\(rule) broken \(place)"
        }
    }
}
