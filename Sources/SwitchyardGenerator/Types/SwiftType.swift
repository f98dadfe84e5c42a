/// The Swift type of a value.
indirect enum SwiftType: Hashable {
    case bool
    case int
    case int64
    case double
    case string
    /// A point in time, in the format in which it is sent.
    case date(DateFormat)
    /// A day of the calendar without a time.
    case day
    /// Bytes in base 64.
    case data
    /// A file of a multipart form.
    case file
    /// Any JSON value.
    case json
    case list(SwiftType)
    case dictionary(SwiftType)
    /// A type that is generated, by its number.
    case declared(Int)

    /// How a point in time is written.
    enum DateFormat: Hashable {
        case rfc3339
        case unixTime
        case rfc2822
    }

    /// The numbers of the declared types within this type.
    var declared: [Int] {
        switch self {
        case .declared(let id): [id]
        case .list(let element), .dictionary(let element): element.declared
        default: []
        }
    }

    /// The number of the declared type that is stored within a value of this type, not behind a reference.
    var stored: Int? { if case .declared(let id) = self { id } else { nil } }

    /// The type with other numbers.
    func renumbered(_ number: (Int) -> Int) -> SwiftType {
        switch self {
        case .declared(let id): .declared(number(id))
        case .list(let element): .list(element.renumbered(number))
        case .dictionary(let element): .dictionary(element.renumbered(number))
        default: self
        }
    }

    /// The type with points in time that the decoder itself reads, for places where no function can be named.
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

/// A type together with what is said about its values where it is used.
struct TypedSchema {
    var type: SwiftType
    var isNullable = false
    /// The only value that is allowed; `nil` if there are several.
    var constant: String?
}
