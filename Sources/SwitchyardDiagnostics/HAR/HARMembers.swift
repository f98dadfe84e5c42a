/// The members of an object in an archive, read leniently: other programs leave out, or write otherwise, what the format
/// requires.
struct HARMembers {
    /// Any name.
    struct Name: CodingKey, ExpressibleByStringLiteral {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringLiteral value: String) { stringValue = value }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A text, a number or a truth value.
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

    /// One of a list: what cannot be read does not stop the rest.
    struct Attempted<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }

    private let container: KeyedDecodingContainer<Name>

    /// Takes an object; what is none is refused.
    init(_ decoder: any Decoder) throws { container = try decoder.container(keyedBy: Name.self) }

    /// Whether there is such a member, be it null.
    func has(_ name: Name) -> Bool { container.contains(name) }

    /// A member that must be there.
    func required<Value: Decodable>(_ name: Name) throws -> Value { try container.decode(Value.self, forKey: name) }

    /// A member that may be missing, or be something else.
    func value<Value: Decodable>(_ name: Name) -> Value? { try? container.decode(Value.self, forKey: name) }

    /// A text, or a number as one.
    func text(_ name: Name) -> String? {
        switch value(name) as Scalar? {
        case .text(let text): text
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .truth(let truth): "\(truth)"
        case nil: nil
        }
    }

    /// A number, or a text that begins with one.
    func number(_ name: Name) -> Double? {
        switch value(name) as Scalar? {
        case .number(let number): number.isFinite ? number : nil
        case .text(let text): Self.number(text)
        case .truth, nil: nil
        }
    }

    /// A number without its fraction.
    func whole(_ name: Name) -> Int? { number(name).flatMap { Int(exactly: $0.rounded()) } }

    /// The members of a list that can be read; a single object is a list of one.
    func list<Value: Decodable>(_ name: Name) -> [Value] {
        if let list = value(name) as [Attempted<Value>]? { return list.compactMap(\.value) }
        return (value(name) as Value?).map { [$0] } ?? []
    }

    /// Names and values: a list of them, or an object with a member for each.
    func fields(_ name: Name) -> [HARField] {
        let fields: [HARField] = list(name)
        guard fields.isEmpty, let object = value(name) as Object? else { return fields }
        return object.fields
    }

    /// An object whose members are texts.
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
