/// JSON whose objects keep their order, which the order of parameters depends on.
package indirect enum CaseValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([CaseValue])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var key: String
        package var value: CaseValue

        package init(key: String, value: CaseValue) {
            self.key = key
            self.value = value
        }
    }

    package subscript(key: String) -> CaseValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    package var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    package var bool: Bool? {
        if case .bool(let flag) = self { return flag }
        return nil
    }

    package var int: Int? {
        if case .number(let text) = self {
            return Int(text) ?? Double(text).flatMap { Int(exactly: $0.rounded(.towardZero)) }
        }
        return nil
    }

    package var array: [CaseValue]? {
        if case .array(let values) = self { return values }
        return nil
    }

    package var members: [Member]? {
        if case .object(let members) = self { return members }
        return nil
    }

    /// The text with `$repeat` and `$concat` expanded.
    package var text: String? {
        if let string { return string }
        if let repeated = self["$repeat"]?.string, let count = self["count"]?.int {
            return (self["prefix"]?.string ?? "") + String(repeating: repeated, count: count)
        }
        return self["$concat"]?.array?.compactMap(\.text).joined()
    }
}

/// A reader of the case files.
///
/// They are known to be well-formed, so any other input is an error without detail.
package struct CaseReader {
    package struct Malformed: Error {}

    private let scalars: [Unicode.Scalar]
    private var position = 0

    package static func read(_ text: String) throws -> CaseValue {
        var reader = CaseReader(scalars: Array(text.unicodeScalars))
        return try reader.value()
    }

    private init(scalars: [Unicode.Scalar]) {
        self.scalars = scalars
    }

    private mutating func peek() throws -> Unicode.Scalar {
        while position < scalars.count, scalars[position].properties.isWhitespace { position += 1 }
        guard position < scalars.count else { throw Malformed() }
        return scalars[position]
    }

    private mutating func value() throws -> CaseValue {
        switch try peek() {
        case "{": return try object()
        case "[": return try array()
        case "\"": return .string(try string())
        default: return try word()
        }
    }

    private mutating func word() throws -> CaseValue {
        let start = position
        while position < scalars.count, !",]} \n\r\t".unicodeScalars.contains(scalars[position]) { position += 1 }
        let text = String(String.UnicodeScalarView(scalars[start..<position]))
        switch text {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: return .number(text)
        }
    }

    private mutating func array() throws -> CaseValue {
        position += 1
        var values: [CaseValue] = []
        while try peek() != "]" {
            values.append(try value())
            if try peek() == "," { position += 1 }
        }
        position += 1
        return .array(values)
    }

    private mutating func object() throws -> CaseValue {
        position += 1
        var members: [CaseValue.Member] = []
        while try peek() != "}" {
            let key = try string()
            guard try peek() == ":" else { throw Malformed() }
            position += 1
            members.append(CaseValue.Member(key: key, value: try value()))
            if try peek() == "," { position += 1 }
        }
        position += 1
        return .object(members)
    }

    private mutating func string() throws -> String {
        guard try peek() == "\"" else { throw Malformed() }
        position += 1
        var units: [UInt16] = []
        while position < scalars.count, scalars[position] != "\"" {
            if scalars[position] == "\\" {
                units.append(try escape())
            } else {
                units += String(scalars[position]).utf16
                position += 1
            }
        }
        position += 1
        return String(decoding: units, as: UTF16.self)
    }

    private mutating func escape() throws -> UInt16 {
        guard position + 1 < scalars.count else { throw Malformed() }
        let kind = scalars[position + 1]
        position += 2
        switch kind {
        case "n": return 10
        case "r": return 13
        case "t": return 9
        case "b": return 8
        case "f": return 12
        case "u":
            let digits = String(String.UnicodeScalarView(scalars[position..<position + 4]))
            position += 4
            guard let unit = UInt16(digits, radix: 16) else { throw Malformed() }
            return unit
        default: return UInt16(kind.value)
        }
    }
}
