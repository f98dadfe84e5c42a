import Foundation

/// An encoder that builds a ``ParameterValue``.
struct ParameterTreeEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let maximumDepth: Int
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeKeyed()
        return KeyedEncodingContainer(ParameterKeyedContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeUnkeyed()
        return ParameterUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ParameterSingleValueContainer(encoder: self)
    }

    /// The encoder for a place further down.
    func descending(to child: ParameterNode, _ key: any CodingKey) -> ParameterTreeEncoder {
        ParameterTreeEncoder(node: child, codingPath: codingPath + [key], maximumDepth: maximumDepth)
    }

    /// Writes the value here; types with a meaning of their own for parameters are not taken apart.
    func encode(_ value: some Encodable) throws {
        guard codingPath.count <= maximumDepth else {
            throw RequestError.parameter(keyPath: codingPath.parameterPath, reason: .tooDeep(limit: maximumDepth))
        }
        switch value {
        case let leaf as any ParameterLeaf: node.content = .value(leaf.parameterValue)
        default:
            try value.encode(to: self)
            switch node.content {
            case .unkeyed where value is any UnorderedElements: node.putElementsInOrder()
            case .keyed where value is any UnorderedMembers: node.putMembersInOrder()
            case .unkeyed where value is any UnorderedMembers: node.putPairsInOrder()
            default: break
            }
        }
    }
}

/// A type whose elements come in an order that says nothing and differs from one value to its equal.
private protocol UnorderedElements {}

extension Set: UnorderedElements {}

/// The same for a type whose elements have names.
private protocol UnorderedMembers {}

extension Dictionary: UnorderedMembers {}

/// A type that stands in the tree as one value, whatever its own encoding would be.
private protocol ParameterLeaf: ParameterConvertible {}

extension Date: ParameterLeaf {}
extension Data: ParameterLeaf {}
extension Decimal: ParameterLeaf {}
extension URL: ParameterLeaf {}
extension Parameters: ParameterLeaf {}
extension ParameterValue: ParameterLeaf {}

/// The name of a list's element or of a superclass's values.
struct ParameterKey: CodingKey {
    var stringValue: String
    var intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    static let `super` = ParameterKey(stringValue: "super")
}

extension Parameters: Encodable {
    /// Encodes the values under their names, for any encoder; of a repeated name the last value stands.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ParameterKey.self)
        for item in items { try container.encode(item.value, forKey: ParameterKey(stringValue: item.key)) }
    }
}

extension ParameterValue: Encodable {
    /// Encodes the value, for any encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .dictionary(let values): try container.encode(values)
        }
    }
}
