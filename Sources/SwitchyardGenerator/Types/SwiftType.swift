/// The Swift type of a value in the generated code.
indirect enum SwiftType: Hashable {
    case bool
    case int
    case int64
    case double
    case string
    /// A point in time (`Date`), with the format in which it is written.
    case date(DateFormat)
    /// A calendar day without a time.
    case day
    /// Bytes (`Data`) that are written as text in base 64.
    case data
    /// A file of a multipart form.
    case file
    /// Any JSON value.
    case json
    case list(SwiftType)
    case dictionary(SwiftType)
    /// An element of a list, or a value of a dictionary, that can be null.
    case optional(SwiftType)
    /// A generated type, identified by its number in the ``TypeGraph``.
    case declared(Int)

    /// The format in which a point in time is written.
    enum DateFormat: Hashable {
        case rfc3339
        case unixTime
        case rfc2822
    }

    /// The indexes of the generated types that this type contains.
    var declared: [Int] {
        switch self {
        case .declared(let id): [id]
        case .list(let element), .dictionary(let element), .optional(let element): element.declared
        default: []
        }
    }

    /// The index of the generated type whose value is stored directly in a value of this type, or `nil` if there is
    /// none.
    var stored: Int? { if case .declared(let id) = self { id } else { nil } }

    /// Returns this type with the indexes of generated types replaced.
    func renumbered(_ number: (Int) -> Int) -> SwiftType {
        switch self {
        case .declared(let id): .declared(number(id))
        case .list(let element): .list(element.renumbered(number))
        case .dictionary(let element): .dictionary(element.renumbered(number))
        case .optional(let element): .optional(element.renumbered(number))
        default: self
        }
    }

    /// This type with only those date formats that the decoder reads by itself, for positions at which the generated
    /// code cannot call a decoding function.
    var withPlainDates: SwiftType {
        switch self {
        case .date(.unixTime): .double
        case .date(.rfc2822): .string
        case .list(let element): .list(element.withPlainDates)
        case .dictionary(let element): .dictionary(element.withPlainDates)
        case .optional(let element): .optional(element.withPlainDates)
        default: self
        }
    }
}

/// The type of a schema, together with constraints that are not part of the Swift type, such as a single allowed value.
struct TypedSchema {
    var type: SwiftType
    var isNullable = false
    /// The only allowed value, or `nil` if several values are allowed.
    var constant: String?

    /// The type of an element of a list, or of a value of a dictionary, with this schema.
    var element: SwiftType {
        let plain = type.withPlainDates
        // A JSON value can be null itself.
        return isNullable && plain != .json ? .optional(plain) : plain
    }
}
