/// The Swift type of a value.
indirect enum SwiftType: Hashable {
    case bool
    case int
    case int64
    case double
    case string
    /// A point in time with its wire format.
    case date(DateFormat)
    /// A calendar day without a time.
    case day
    /// Bytes in base 64.
    case data
    /// A file of a multipart form.
    case file
    /// Any JSON value.
    case json
    case list(SwiftType)
    case dictionary(SwiftType)
    /// A generated type, by number.
    case declared(Int)

    /// The wire format of a point in time.
    enum DateFormat: Hashable {
        case rfc3339
        case unixTime
        case rfc2822
    }

    /// The numbers of the declared types in this type.
    var declared: [Int] {
        switch self {
        case .declared(let id): [id]
        case .list(let element), .dictionary(let element): element.declared
        default: []
        }
    }

    /// The number of the declared type that a value of this type stores inline, without a reference.
    var stored: Int? { if case .declared(let id) = self { id } else { nil } }

    /// Returns the type with its numbers replaced.
    func renumbered(_ number: (Int) -> Int) -> SwiftType {
        switch self {
        case .declared(let id): .declared(number(id))
        case .list(let element): .list(element.renumbered(number))
        case .dictionary(let element): .dictionary(element.renumbered(number))
        default: self
        }
    }

    /// The type with only the date formats that the decoder itself reads, for locations where no decoding function can
    /// be specified.
    var withPlainDates: SwiftType {
        switch self {
        case .date(.unixTime): .double
        case .date(.rfc2822): .string
        case .list(let element): .list(element.withPlainDates)
        case .dictionary(let element): .dictionary(element.withPlainDates)
        default: self
        }
    }
}

/// A type with the constraints on its values at the location where it is used.
struct TypedSchema {
    var type: SwiftType
    var isNullable = false
    /// The only allowed value, or `nil` if several values are allowed.
    var constant: String?
}
