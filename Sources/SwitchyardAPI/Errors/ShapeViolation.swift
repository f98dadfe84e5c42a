/// The difference between a JSON value and the shape that was declared for it, with its location.
public struct ShapeViolation: Error, Sendable, Hashable {
    /// A kind of difference between a value and its declared shape.
    public enum Kind: Sendable, Hashable {
        /// A required key is missing.
        case missingKey
        /// The value is `null` but must not be.
        case null
        /// The value has a kind other than the expected kind.
        case kind(expected: String, found: String)
        /// The value has the expected kind, but violates a rule such as a range, a length, a pattern or a list of
        /// choices.
        case rule(String)
    }

    /// The kind of difference between the value and its declared shape.
    public var kind: Kind
    /// The key path of the value from the root of the body, such as `data.items[3].name`.
    ///
    /// The key path is empty for the root itself.
    public var keyPath: String

    /// Creates a violation at a key path.
    package init(_ kind: Kind, keyPath: String) {
        self.kind = kind
        self.keyPath = keyPath
    }
}

extension ShapeViolation: CustomStringConvertible {
    /// The difference and its key path.
    public var description: String {
        let place = keyPath.isEmpty ? "at the root" : "at \(keyPath)"
        return switch kind {
        case .missingKey: "key missing \(place)"
        case .null: "expected a value, found null \(place)"
        case .kind(let expected, let found): "expected \(expected), found \(found) \(place)"
        case .rule(let rule): "rule violated \(place): \(rule)"
        }
    }
}
