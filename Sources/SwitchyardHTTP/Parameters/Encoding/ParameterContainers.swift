/// The container for a single value.
struct ParameterSingleValueContainer: SingleValueEncodingContainer {
    let encoder: ParameterTreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() { encoder.node.content = .value(.null) }
    mutating func encode(_ value: Bool) { set(value) }
    mutating func encode(_ value: String) { set(value) }
    mutating func encode(_ value: Double) { set(value) }
    mutating func encode(_ value: Float) { set(value) }
    mutating func encode(_ value: Int) { set(value) }
    mutating func encode(_ value: Int8) { set(value) }
    mutating func encode(_ value: Int16) { set(value) }
    mutating func encode(_ value: Int32) { set(value) }
    mutating func encode(_ value: Int64) { set(value) }
    mutating func encode(_ value: UInt) { set(value) }
    mutating func encode(_ value: UInt8) { set(value) }
    mutating func encode(_ value: UInt16) { set(value) }
    mutating func encode(_ value: UInt32) { set(value) }
    mutating func encode(_ value: UInt64) { set(value) }
    mutating func encode(_ value: some Encodable) throws { try encoder.encode(value) }

    private func set(_ value: some ParameterConvertible) {
        encoder.node.content = .value(value.parameterValue)
    }
}

/// The container for a list.
struct ParameterUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: ParameterTreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.elementCount }

    private func next() -> ParameterTreeEncoder {
        let key = ParameterKey(intValue: count)
        return encoder.descending(to: encoder.node.appendElement(), key)
    }

    mutating func encodeNil() { next().node.content = .value(.null) }
    mutating func encode(_ value: some Encodable) throws { try next().encode(value) }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { next() }
}

/// The container for a dictionary.
struct ParameterKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ParameterTreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func member(_ key: any CodingKey) -> ParameterTreeEncoder {
        encoder.descending(to: encoder.node.member(key.stringValue), key)
    }

    mutating func encodeNil(forKey key: Key) { member(key).node.content = .value(.null) }
    mutating func encode(_ value: some Encodable, forKey key: Key) throws { try member(key).encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        member(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { member(ParameterKey.super) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { member(key) }

    // A `nil` optional is encoded as null, so that the options determine whether it is written.

    mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }

    private mutating func encodeOptional<Value: Encodable>(_ value: Value?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }
}
