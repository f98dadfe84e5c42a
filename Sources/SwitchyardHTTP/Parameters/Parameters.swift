import Foundation

/// Named values of a request, in order; a name may occur more than once.
///
/// ### Use
/// Write a literal, from constants and variables alike; `nil` stands for `null`:
///
///     let query: Parameters = ["q": text, "page": page, "tags": ["swift", "linux"], "since": lastSeen]
///
/// or take them from a type of your own:
///
///     let query = try Parameters(encoding: SearchRequest(text: text, page: page))
///
/// ### Customise
/// How lists, nested values, dates, `null` and so on are written is said by ``ParameterEncodingOptions``.
public struct Parameters: Sendable, Hashable {
    /// One named value.
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

    /// Creates parameters, empty unless items are given.
    public init(_ items: [Item] = []) {
        self.items = items
    }

    /// Creates parameters from a dictionary, in ascending order of the keys.
    public init(sorting values: [String: ParameterValue]) {
        items = values.map { Item(key: $0.key, value: $0.value) }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Whether there is no value.
    public var isEmpty: Bool { items.isEmpty }
    /// The number of values at the top.
    public var count: Int { items.count }

    /// The first value of that name; setting replaces it and removes others of the name, `nil` removes all.
    public subscript(key: String) -> ParameterValue? {
        get { items.first { $0.key == key }?.value }
        set {
            guard let newValue else { return items.removeAll { $0.key == key } }
            guard let first = items.firstIndex(where: { $0.key == key }) else { return append(key, newValue) }
            items[first].value = newValue
            items = items.enumerated().filter { $0.offset <= first || $0.element.key != key }.map(\.element)
        }
    }

    /// Sets the first value of that name and removes others of the name; `nil` removes all.
    ///
    /// What the subscript takes is a ``ParameterValue``; this takes any value that becomes one.
    public mutating func set(_ key: String, _ value: (any ParameterConvertible)?) {
        self[key] = value?.parameterValue
    }

    /// Adds a value behind the others, also when one of that name is there.
    public mutating func append(_ key: String, _ value: (any ParameterConvertible)?) {
        items.append(Item(key: key, value: ParameterValue(value)))
    }

    /// Adds the values of `other`, where it wins over values of the same name or gives way to them.
    ///
    /// - Parameters:
    ///   - other: The values to add.
    ///   - overriding: Whether a value of `other` replaces those of its name; otherwise it is left out.
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
    /// Creates the parameters of a literal, in its order; a name may repeat.
    public init(dictionaryLiteral elements: (String, (any ParameterConvertible)?)...) {
        items = elements.map { Item(key: $0.0, value: ParameterValue($0.1)) }
    }
}

extension Parameters: ParameterConvertible {
    /// The parameters as a nested value.
    public var parameterValue: ParameterValue { .dictionary(self) }
}

extension Parameters {
    /// Reads the text of a query or form, as the WHATWG parser of `application/x-www-form-urlencoded` does.
    ///
    /// Every value is text; `+` is a space, a missing `=` an empty value, an escape that is none stays as it is, and
    /// bytes that are not UTF-8 become U+FFFD. Any text can be read.
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
    /// Whether the names ascend already, so that nothing has to be sorted.
    var areKeysAscending: Bool {
        guard count > 1 else { return true }
        for index in 1..<count where self[index].key.precedes(self[index - 1].key) { return false }
        return true
    }

    /// The items in ascending order of the UTF-8 bytes of their names; those of one name keep their order.
    var stablySortedByKey: [Parameters.Item] {
        indices.sorted { left, right in
            if self[left].key.precedes(self[right].key) { return true }
            return left < right && !self[right].key.precedes(self[left].key)
        }
        .map { self[$0] }
    }
}

extension String {
    /// Whether the UTF-8 bytes come before those of `other`; the order of Swift's strings, which normalises, is slower.
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
    /// Base 64 for URLs, without padding (RFC 4648 section 5).
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
    /// Creates the value tree of any encodable value.
    ///
    /// Dates, data, decimals and URLs stay what they are, so that ``ParameterEncodingOptions`` decides how they are
    /// written. An optional without a value becomes `null`. Sets and dictionaries, which have no order, are put in one.
    ///
    /// - Parameters:
    ///   - value: The value to take apart.
    ///   - maximumDepth: How deep it may be nested; 64 unless given.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)`` with the path of the value that cannot be encoded.
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
    /// Creates parameters from any encodable value with named members: a structure, or a dictionary, whose members are put
    /// in ascending order of their names.
    ///
    /// - Parameters:
    ///   - value: The value to take apart.
    ///   - maximumDepth: How deep it may be nested; 64 unless given.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)`` with the path of the value that cannot be encoded, or with
    ///   ``RequestError/ParameterReason/notKeyed`` when the value is a list or a single value.
    public init(encoding value: some Encodable & Sendable, maximumDepth: Int = 64) throws(RequestError) {
        switch try ParameterValue(encoding: value, maximumDepth: maximumDepth) {
        case .dictionary(let parameters): self = parameters
        case .null: self = Parameters()
        default: throw .parameter(keyPath: "", reason: .notKeyed)
        }
    }
}

extension [any CodingKey] {
    /// The path as a query would name it: `filter[tags][0]`.
    var parameterPath: String {
        guard let first else { return "" }
        return dropFirst().reduce(first.stringValue) { path, key in
            "\(path)[\(key.intValue.map(String.init) ?? key.stringValue)]"
        }
    }
}
