import Foundation

extension ParameterValue {
    /// The value as text, injective: the kind, then the value, with lengths where values are nested.
    ///
    /// The description of a value would not do: all bytes of one length, and all dates within a second, look the same.
    package var canonicalText: String {
        switch self {
        case .null: "n"
        case .bool(let value): value ? "t" : "f"
        case .integer(let value): "i" + String(value)
        case .unsigned(let value): "u\(value)"
        case .double(let value): "d\(value)"
        case .decimal(let value): "e\(value)"
        case .string(let value): "s" + value
        case .date(let value): "D\(value.timeIntervalSinceReferenceDate)"
        case .data(let value): "b" + value.base64EncodedString()
        case .array(let values): "a" + values.map(\.canonicalText.framed).joined()
        case .dictionary(let values):
            "o"
                + values.items.sorted { $0.key < $1.key }
                .map { $0.key.framed + $0.value.canonicalText.framed }
                .joined()
        }
    }
}

extension Parameters {
    /// The parameters as text, in their order, injective.
    package var canonicalText: String { items.map { $0.key.framed + $0.value.canonicalText.framed }.joined() }
}

extension String {
    /// The text behind its length, so that it can be told apart from what follows it.
    package var framed: String { "\(utf8.count):\(self)" }
}
