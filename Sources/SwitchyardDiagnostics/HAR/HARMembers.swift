/// Lenient access to the members of a JSON object in an archive.
///
/// Programs other than this library omit required members, or write members with another type.
struct HARMembers {
    /// A coding key with any name.
    struct Name: CodingKey, ExpressibleByStringLiteral {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringLiteral value: String) { stringValue = value }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A string, a number or a Boolean.
    private enum Scalar: Decodable {
        case text(String)
        case number(Double)
        case truth(Bool)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let truth = try? container.decode(Bool.self) {
                self = .truth(truth)
            } else {
                self = .number(try container.decode(Double.self))
            }
        }
    }

    /// An element of a list.
    ///
    /// If the element cannot be decoded, its value is `nil` and the rest of the list is still decoded.
    struct Attempted<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }

    private let container: KeyedDecodingContainer<Name>

    /// Reads the members of an object, or throws if the value is not an object.
    init(_ decoder: any Decoder) throws { container = try decoder.container(keyedBy: Name.self) }

    /// Whether the member exists, even if its value is null.
    func has(_ name: Name) -> Bool { container.contains(name) }

    /// Returns a required member, or throws if it is missing or has another type.
    func required<Value: Decodable>(_ name: Name) throws -> Value { try container.decode(Value.self, forKey: name) }

    /// Returns a member, or `nil` if it is missing or has another type.
    func value<Value: Decodable>(_ name: Name) -> Value? { try? container.decode(Value.self, forKey: name) }

    /// Returns a member as a string, to which a number or a Boolean is converted.
    func text(_ name: Name) -> String? {
        switch value(name) as Scalar? {
        case .text(let text): text
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .truth(let truth): "\(truth)"
        case nil: nil
        }
    }

    /// Returns a member as a number.
    ///
    /// A string counts as the number with which it starts.
    func number(_ name: Name) -> Double? {
        switch value(name) as Scalar? {
        case .number(let number): number.isFinite ? number : nil
        case .text(let text): Self.number(text)
        case .truth, nil: nil
        }
    }

    /// Returns a member as a number rounded to an integer.
    func whole(_ name: Name) -> Int? { number(name).flatMap { Int(exactly: $0.rounded()) } }

    /// Returns the elements of a list that can be read.
    ///
    /// A single object counts as a list of one element.
    func list<Value: Decodable>(_ name: Name) -> [Value] {
        if let list = value(name) as [Attempted<Value>]? { return list.compactMap(\.value) }
        return (value(name) as Value?).map { [$0] } ?? []
    }

    /// Returns name-value pairs, written as a list of pairs or as an object with one member per pair.
    func fields(_ name: Name) -> [HARField] {
        let fields: [HARField] = list(name)
        guard fields.isEmpty, let object = value(name) as Object? else { return fields }
        return object.fields
    }

    /// A JSON object whose member values are read as strings.
    private struct Object: Decodable {
        let fields: [HARField]

        init(from decoder: any Decoder) throws {
            let members = try HARMembers(decoder)
            fields = members.container.allKeys.sorted { $0.stringValue < $1.stringValue }.compactMap { key in
                members.text(key).map { HARField(name: key.stringValue, value: $0) }
            }
        }
    }

    private static func number(_ text: String) -> Double? {
        let digits = text.drop { $0.isWhitespace }.prefix { "+-0123456789.,eE".contains($0) }
        let number = Double(digits.replacing(",", with: "."))
        return number.flatMap { $0.isFinite ? $0 : nil }
    }
}
