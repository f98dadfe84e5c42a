import Foundation

/// The members of a JSON object: one value per name.
///
/// Names are compared scalar by scalar (RFC 8259 section 8.3), unlike Swift strings: a precomposed `é` and an `e` with
/// a combining accent are two names. If a lookup finds no exact match, it returns the value of a name that is equal as
/// a Swift string.
///
///     var members: JSONMembers = ["title": "one", "pages": 3]
///     members["pages"] = nil
public struct JSONMembers: Sendable, Hashable {
    /// A name that is compared by its bytes.
    fileprivate struct Name: Hashable, Sendable {
        let text: String

        static func == (left: Name, right: Name) -> Bool {
            var (left, right) = (left.text, right.text)
            return left.withUTF8 { left in
                right.withUTF8 { right in
                    guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress else {
                        return left.count == right.count
                    }
                    return memcmp(first, second, left.count) == 0
                }
            }
        }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private var values: [Name: JSONValue] = [:]

    /// Creates an object without members.
    public init() {}

    /// Creates an object from members; if a name is repeated, the last value wins.
    public init(_ members: some Sequence<(key: String, value: JSONValue)>) {
        for (name, value) in members { self[name] = value }
    }

    /// The value of a name, or `nil` if there is none; assigning `nil` removes the member.
    public subscript(name: String) -> JSONValue? {
        get { values[Name(text: name)] ?? value(equalTo: name) }
        set { values[Name(text: name)] = newValue }
    }

    /// Returns the value of the first name (in scalar order) that equals `name` as a Swift string but has other
    /// scalars.
    private func value(equalTo name: String) -> JSONValue? {
        guard name.utf8.contains(where: { $0 > 127 }) else { return nil }
        let names = values.keys.filter { $0.text == name }
        return names.min { $0.text.unicodeScalars.lexicographicallyPrecedes($1.text.unicodeScalars) }
            .flatMap { values[$0] }
    }

    /// Whether there is a member with exactly this name, compared scalar by scalar.
    public func contains(name: String) -> Bool { values[Name(text: name)] != nil }

    /// The names, in no particular order.
    public var keys: [String] { values.keys.map(\.text) }

    /// Replaces the value of a name.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - name: The name.
    /// - Returns: The previous value, or `nil` if there was none.
    @discardableResult
    package mutating func updateValue(_ value: JSONValue, forKey name: String) -> JSONValue? {
        values.updateValue(value, forKey: Name(text: name))
    }

    /// Returns the members for which `isIncluded` is true.
    package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> JSONMembers {
        var members = JSONMembers()
        members.values = try values.filter { try isIncluded((key: $0.key.text, value: $0.value)) }
        return members
    }

    /// Returns a dictionary from each name to the result of `transform`.
    ///
    /// If several names are equal as Swift strings, only one of them remains.
    package func mapValues<Result>(_ transform: (JSONValue) throws -> Result) rethrows -> [String: Result] {
        try reduce(into: [:]) { $0[$1.key] = try transform($1.value) }
    }

    /// Returns a dictionary from each name to the result of `transform`, without `nil` results.
    ///
    /// If several names are equal as Swift strings, only one of them remains.
    package func compactMapValues<Result>(_ transform: (JSONValue) throws -> Result?) rethrows -> [String: Result] {
        try reduce(into: [:]) { $0[$1.key] = try transform($1.value) }
    }

    /// Returns the members with transformed values.
    func replacingValues(_ transform: (JSONValue) -> JSONValue) -> JSONMembers {
        var members = JSONMembers()
        members.values = values.mapValues(transform)
        return members
    }

    /// The members, sorted by name.
    package var inOrder: [Element] {
        sorted { left, right in
            left.key == right.key
                ? left.key.unicodeScalars.lexicographicallyPrecedes(right.key.unicodeScalars) : left.key < right.key
        }
    }
}

extension JSONMembers: Collection {
    /// A name and its value.
    public typealias Element = (key: String, value: JSONValue)

    /// The position of a member in the collection.
    public struct Index: Comparable, Sendable {
        fileprivate let base: Dictionary<Name, JSONValue>.Index

        /// Whether one position is before another.
        public static func < (left: Index, right: Index) -> Bool { left.base < right.base }
    }

    /// The position of the first member.
    public var startIndex: Index { Index(base: values.startIndex) }
    /// The position after the last member.
    public var endIndex: Index { Index(base: values.endIndex) }
    /// The number of members.
    public var count: Int { values.count }
    /// Whether there are no members.
    public var isEmpty: Bool { values.isEmpty }

    /// Returns the position after `index`.
    public func index(after index: Index) -> Index { Index(base: values.index(after: index.base)) }

    /// The member at a position.
    public subscript(position: Index) -> Element {
        let (name, value) = values[position.base]
        return (name.text, value)
    }
}

extension JSONMembers: ExpressibleByDictionaryLiteral {
    /// Creates an object; if a name is repeated, the last value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.lazy.map { (key: $0.0, value: $0.1) })
    }
}
