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
