import Foundation

/// Named values of a request, in order.
///
/// Names may be repeated.
///
/// ### Use
/// Write a literal with constants and variables (`nil` means `null`):
///
///     let query: Parameters = ["q": text, "page": page, "tags": ["swift", "linux"], "since": lastSeen]
///
/// or encode a type of your own:
///
///     let query = try Parameters(encoding: SearchRequest(text: text, page: page))
///
/// ### Customize
/// ``ParameterEncodingOptions`` determines how lists, nested values, dates, `null` and other values are written.
public struct Parameters: Sendable, Hashable {
    /// A named value.
    public struct Item: Sendable, Hashable {
        /// The name.
        public var key: String
        /// The value.
        public var value: ParameterValue

        /// Creates a named value.
        public init(key: String, value: ParameterValue) {
            self.key = key
            self.value = value
        }
    }

    /// The named values, in order.
    public var items: [Item]

    /// Creates parameters, by default without items.
    public init(_ items: [Item] = []) {
        self.items = items
    }

    /// Creates parameters from a dictionary in ascending order of the keys.
    package init(sorting values: [String: ParameterValue]) {
        items = values.map { Item(key: $0.key, value: $0.value) }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Whether there are no values.
    public var isEmpty: Bool { items.isEmpty }
    /// The number of top-level values.
    public var count: Int { items.count }

    /// The first value with a name.
    ///
    /// Setting a value replaces the first value with the name, and removes all other values with the name. Setting
    /// `nil` removes all values with the name.
    public subscript(key: String) -> ParameterValue? {
        get { items.first { $0.key == key }?.value }
        set {
            guard let newValue else { return items.removeAll { $0.key == key } }
            guard let first = items.firstIndex(where: { $0.key == key }) else { return append(key, newValue) }
            items[first].value = newValue
            items = items.enumerated().filter { $0.offset <= first || $0.element.key != key }.map(\.element)
        }
    }

    /// Sets the first value with a name and removes other values with the name.
    ///
    /// If `value` is `nil`, all values with the name are removed. Unlike the subscript, this function accepts any value
    /// that converts to a ``ParameterValue``.
    public mutating func set(_ key: String, _ value: (any ParameterConvertible)?) {
        self[key] = value?.parameterValue
    }

    /// Appends a value, even if there are values with the same name.
    public mutating func append(_ key: String, _ value: (any ParameterConvertible)?) {
        items.append(Item(key: key, value: ParameterValue(value)))
    }

    /// Adds the values of `other` and resolves conflicts between equal names.
    ///
    /// - Parameters:
    ///   - other: The values to add.
    ///   - overriding: Whether a value of `other` replaces the values with the same name. Otherwise the value of
    ///     `other` is omitted.
    public mutating func merge(_ other: Parameters, overriding: Bool) {
        guard !other.isEmpty else { return }
        guard !isEmpty else { return self = other }
        let names = Set((overriding ? other : self).items.map(\.key))
        if overriding {
            items.removeAll { names.contains($0.key) }
            items += other.items
        } else {
            items += other.items.filter { !names.contains($0.key) }
        }
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// Creates the parameters of a dictionary literal in its order.
    ///
    /// Names may be repeated.
    public init(dictionaryLiteral elements: (String, (any ParameterConvertible)?)...) {
        items = elements.map { Item(key: $0.0, value: ParameterValue($0.1)) }
    }
}

extension Parameters: ParameterConvertible {
    /// The parameters as a nested dictionary.
    public var parameterValue: ParameterValue { .dictionary(self) }
}

extension Parameters {
    /// Parses the text of a query or form, as the WHATWG parser of `application/x-www-form-urlencoded` does.
    ///
    /// Every value is text. `+` becomes a space, a missing `=` gives an empty value, an invalid percent escape is kept,
    /// and bytes that are not UTF-8 become U+FFFD. Parsing never fails.
    ///
    /// - Parameter text: The text, without a leading `?`.
    public init(parsing text: String) {
        items = text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let value = equals < pair.endIndex ? pair[pair.index(after: equals)...] : pair[equals...]
            return Item(key: Self.decoded(pair[..<equals]), value: .string(Self.decoded(value)))
        }
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String {
        var output: [UInt8] = []
        let bytes = Array(bytes)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if PercentEncoding.isEscape(bytes, at: index), let high = PercentEncoding.value(bytes[index + 1]),
                let low = PercentEncoding.value(bytes[index + 2])
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

extension [Parameters.Item] {
    /// Whether the names are in ascending order already, so that sorting is not needed.
    var areKeysAscending: Bool {
        guard count > 1 else { return true }
        for index in 1..<count where self[index].key.precedes(self[index - 1].key) { return false }
        return true
    }

    /// The items sorted by the UTF-8 bytes of their names.
    ///
    /// Items with equal names keep their order.
    var stablySortedByKey: [Parameters.Item] {
        indices.sorted { left, right in
            if self[left].key.precedes(self[right].key) { return true }
            return left < right && !self[right].key.precedes(self[left].key)
        }
        .map { self[$0] }
    }
}

extension String {
    /// Whether the UTF-8 bytes of this name are ordered before the bytes of `other`.
    ///
    /// Comparing strings with `<` is slower, because it normalizes.
    fileprivate func precedes(_ other: String) -> Bool {
        let isBefore = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                for index in 0..<Swift.min(left.count, right.count) where left[index] != right[index] {
                    return left[index] < right[index]
                }
                return left.count < right.count
            }
        }
        return isBefore.flatMap(\.self) ?? utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension Data {
    /// The bytes as URL-safe Base64 without padding (RFC 4648 section 5).
    package var base64URLText: String {
        let text = base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ParameterValue {
    /// Creates a parameter value from an encodable value.
    ///
    /// Dates, data, decimals and URLs keep their types, so that ``ParameterEncodingOptions`` determines how they are
    /// written. A `nil` optional becomes `null`. Sets and dictionaries are sorted, because they are unordered.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - maximumDepth: The maximum nesting depth; 64 by default.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)`` with the key path of the value that cannot be encoded.
    public init(encoding value: some Encodable & Sendable, maximumDepth: Int = 64) throws(RequestError) {
        let root = ParameterNode()
        do {
            try ParameterTreeEncoder(node: root, codingPath: [], maximumDepth: maximumDepth).encode(value)
        } catch let error as RequestError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            let keyPath = context.codingPath.parameterPath
            throw .parameter(keyPath: keyPath, reason: .conversionFailed(context.debugDescription))
        } catch {
            throw .parameter(keyPath: "", reason: .conversionFailed("\(error)"))
        }
        self = root.value
    }
}

extension Parameters {
    /// Creates parameters from an encodable value with named members: a structure, or a dictionary, whose members are
    /// sorted by their names.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - maximumDepth: The maximum nesting depth; 64 by default.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)`` with the key path of the value that cannot be encoded, or
    ///   with ``RequestError/ParameterReason/notKeyed`` if the value is a list or a single value.
    public init(encoding value: some Encodable & Sendable, maximumDepth: Int = 64) throws(RequestError) {
        switch try ParameterValue(encoding: value, maximumDepth: maximumDepth) {
        case .dictionary(let parameters): self = parameters
        case .null: self = Parameters()
        default: throw .parameter(keyPath: "", reason: .notKeyed)
        }
    }
}

extension [any CodingKey] {
    /// The coding path in the notation of a query: `filter[tags][0]`.
    var parameterPath: String {
        guard let first else { return "" }
        return dropFirst().reduce(first.stringValue) { path, key in
            "\(path)[\(key.intValue.map(String.init) ?? key.stringValue)]"
        }
    }
}
