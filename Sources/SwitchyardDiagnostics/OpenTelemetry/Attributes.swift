import SwitchyardServices

/// The value of an attribute.
enum AttributeValue: Sendable, Hashable {
    case text(String)
    case int(Int)
    case double(Double)
    case bool(Bool)
    case list([String])

    /// The value in the JSON encoding of OTLP, which writes 64-bit integers as strings.
    var json: JSONValue {
        switch self {
        case .text(let text): ["stringValue": .string(text)]
        case .int(let number): ["intValue": .string("\(number)")]
        case .double(let number): ["doubleValue": JSONValue(floatLiteral: number)]
        case .bool(let bool): ["boolValue": .bool(bool)]
        case .list(let texts):
            ["arrayValue": ["values": .array(texts.map { ["stringValue": .string($0)] })]]
        }
    }
}

extension AttributeValue: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self = .text(value) }
}

/// The attributes of a span, an event, a measurement or a resource.
struct Attributes: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private var values: [String: AttributeValue] = [:]

    init(dictionaryLiteral elements: (String, AttributeValue)...) {
        values = Dictionary(elements) { $1 }
    }

    subscript(name: String) -> AttributeValue? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Sets a text, unless it is missing.
    mutating func set(_ name: String, _ text: String?) {
        if let text { values[name] = .text(text) }
    }

    /// The attributes in the JSON encoding of OTLP, sorted by name.
    var json: JSONValue {
        .array(values.sorted { $0.key < $1.key }.map { ["key": .string($0.key), "value": $0.value.json] })
    }
}
