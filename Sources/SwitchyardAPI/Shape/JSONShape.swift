/// The shape that a JSON value must have.
///
///     let user = JSONShape.object([
///         "id": .integer,
///         "name": .string.length(1...40),
///         "nick": .optional(.string),            // may be missing
///         "boss": .nullable(.object([:])),       // must be there, may be null
///     ])
///     let answer = JSONShape.object(["users": .array(of: user)])
public struct JSONShape: Sendable {
    /// What becomes of members that an object's shape does not name.
    public indirect enum Others: Sendable {
        /// They are ignored; the default.
        case allowed
        /// They are a violation.
        case forbidden
        /// They must have a shape.
        case shaped(JSONShape)
    }

    /// The kind of value and what it is made of.
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
    /// A truth value; numbers are none.
    public static let bool = JSONShape(.bool)
    /// A number; truth values are none.
    public static let number = JSONShape(.number)
    /// A whole number; `1.0` is one.
    public static let integer = JSONShape(.integer)
    /// A string.
    public static let string = JSONShape(.string)

    /// An object with these members; each is required unless its shape is ``optional(_:)``.
    public static func object(_ members: [String: JSONShape] = [:], others: Others = .allowed) -> JSONShape {
        JSONShape(.object(members, others: others))
    }

    /// An array whose elements all have a shape.
    public static func array(of element: JSONShape = .any) -> JSONShape {
        JSONShape(.array(element))
    }

    /// A member that may be missing; anywhere else the same as the shape itself.
    public static func optional(_ shape: JSONShape) -> JSONShape {
        var copy = shape
        copy.isOptional = true
        return copy
    }

    /// The shape as a member that must be there.
    public var required: JSONShape {
        var copy = self
        copy.isOptional = false
        return copy
    }

    /// The shape, or `null`.
    public static func nullable(_ shape: JSONShape) -> JSONShape {
        JSONShape(.nullable(shape))
    }

    /// One shape of several.
    public static func anyOf(_ shapes: [JSONShape]) -> JSONShape {
        JSONShape(.anyOf(shapes))
    }

    func adding(_ rule: ShapeRule) -> JSONShape {
        var copy = self
        copy.rules.append(rule)
        return copy
    }
}
