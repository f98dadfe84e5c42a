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

    /// Returns the encoder for a child node.
    func descending(to child: ParameterNode, _ key: any CodingKey) -> ParameterTreeEncoder {
        ParameterTreeEncoder(node: child, codingPath: codingPath + [key], maximumDepth: maximumDepth)
    }

    /// Encodes the value into the node.
    ///
    /// Types with their own parameter representation are stored as single values.
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

/// A type whose order of elements is arbitrary and may differ between equal values.
private protocol UnorderedElements {}

extension Set: UnorderedElements {}

/// A type with named members whose order is arbitrary and may differ between equal values.
private protocol UnorderedMembers {}

extension Dictionary: UnorderedMembers {}

/// A type that is stored in the tree as one value instead of through its own encoding.
private protocol ParameterLeaf: ParameterConvertible {}

extension Date: ParameterLeaf {}
extension Data: ParameterLeaf {}
extension Decimal: ParameterLeaf {}
extension URL: ParameterLeaf {}
extension Parameters: ParameterLeaf {}
extension ParameterValue: ParameterLeaf {}

/// The coding key of a list element, or of a superclass's values.
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
    /// Encodes the parameters under their names, for any encoder.
    ///
    /// If a name is repeated, the last value wins.
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
