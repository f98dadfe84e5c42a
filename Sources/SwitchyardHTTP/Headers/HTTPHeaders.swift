/// Header fields in order; names compare without regard to case (RFC 9110 section 5).
///
/// The container takes any text. Whether a field may be sent is checked once, when a request is generated and again by
/// the transport: see ``firstInvalidField``.
public struct HTTPHeaders: Sendable, Hashable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name, as it was given.
        public var name: String
        /// The value; what came in bytes that are not UTF-8 is read as Latin-1.
        public var value: String { didSet { isLatin1 = false } }
        /// Whether it came in such bytes.
        package private(set) var isLatin1 = false

        /// Creates a field; spaces and tabs around the value are not part of it (RFC 9110 section 5.5).
        public init(name: String, value: String) {
            self.name = name
            self.value = value.withoutSurroundingSpace
        }

        /// Creates a field of a value that came as Latin-1.
        package init(name: String, latin1 value: String) {
            self.init(name: name, value: value)
            isLatin1 = true
        }

        /// The value as it goes back to a server, with the bytes that it came in (``OpaqueText``).
        package var echo: String { isLatin1 ? OpaqueText.marked(value) : value }

        /// Creates a field of what ``echo`` gave.
        package init(name: String, echo: String) {
            let value = OpaqueText.unmarked(echo)
            self.init(name: name, value: value)
            isLatin1 = value != echo
        }
    }

    /// The fields, in order.
    public private(set) var fields: [Field]

    /// Creates a container, empty unless fields are given.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Adds a field behind the others, also when one of that name is there.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Adds a field behind the others.
    package mutating func add(_ field: Field) {
        fields.append(field)
    }

    /// Replaces the fields of that name by one, in the place of the first.
    public mutating func set(_ name: String, _ value: String) {
        guard let first = fields.firstIndex(where: { $0.name.equalsIgnoringASCIICase(name) }) else {
            return add(name, value)
        }
        fields[first] = Field(name: name, value: value)
        var index = fields.count - 1
        while index > first {
            if fields[index].name.equalsIgnoringASCIICase(name) { fields.remove(at: index) }
            index -= 1
        }
    }

    /// Removes all fields of that name.
    public mutating func remove(_ name: String) {
        fields.removeAll { $0.name.equalsIgnoringASCIICase(name) }
    }

    /// The first value of that name; setting `nil` removes the fields.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value }
        set {
            if let newValue { set(name, newValue) } else { remove(name) }
        }
    }

    /// The first value of that name, as it goes back to a server.
    package func echo(of name: String) -> String? {
        fields.first { $0.name.equalsIgnoringASCIICase(name) }?.echo
    }

    /// All values of that name, as they go back to a server.
    package func echoes(of name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.echo)
    }

    /// All values of that name, in order.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
    }

    /// Returns the fields with those of `other` in place of all that have the same names.
    ///
    /// Fields that `other` holds more than once stay so.
    public func overridden(by other: HTTPHeaders) -> HTTPHeaders {
        guard !other.fields.isEmpty else { return self }
        guard !fields.isEmpty else { return other }
        var result = fields.filter { field in
            !other.fields.contains { $0.name.equalsIgnoringASCIICase(field.name) }
        }
        result += other.fields
        return HTTPHeaders(result)
    }

    /// Returns the fields in ascending order of their names, those of one name in their order.
    public func sorted() -> HTTPHeaders {
        let keys = fields.map { $0.name.lowercased() }
        let order = fields.indices.sorted { keys[$0] == keys[$1] ? $0 < $1 : keys[$0] < keys[$1] }
        return HTTPHeaders(order.map { fields[$0] })
    }

    /// The first field that must not be sent.
    ///
    /// Its name is not a token, or its value holds a control character other than the tab: CR, LF and NUL above all,
    /// which would smuggle lines into the request (RFC 9110 section 5.5).
    public var firstInvalidField: Field? {
        // By position, as each field would be copied otherwise.
        fields.indices.first { !fields[$0].isValid }.map { fields[$0] }
    }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    /// The field as a line: `Name: value`.
    ///
    /// Credentials are not hidden; for a log use ``HTTPHeaders/redactedDescription``.
    public var description: String { "\(name): \(value)" }

    /// Whether the field may be sent, see ``HTTPHeaders/firstInvalidField``.
    public var isValid: Bool {
        HTTPToken.isValid(name) && value.isFieldValue
    }
}

extension HTTPHeaders {
    /// The first value of a name, where a later request can give it back to the server; `nil` for an empty one, and for
    /// one that no field may hold.
    ///
    /// What is kept to be given back (`ETag`) is read by this: with anything else every later request would be refused
    /// before it is sent.
    package func returnable(_ name: String) -> String? {
        guard let value = echo(of: name), !value.isEmpty, value.isFieldValue else { return nil }
        return value
    }
}

extension String {
    /// Whether a header field may have the text as its value, see ``HTTPHeaders/firstInvalidField``.
    package var isFieldValue: Bool { !withContiguousUTF8(\.holdsControl) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, one in each line.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates the fields of a literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The first position.
    public var startIndex: Int { fields.startIndex }
    /// The position behind the last.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    /// Creates the fields of a literal, in its order: `[.accept("application/json"), .bearer(token)]`.
    public init(arrayLiteral elements: Field...) {
        fields = elements
    }
}

extension String {
    /// The text without spaces and tabs at its ends.
    fileprivate var withoutSurroundingSpace: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
        let start = utf8.firstIndex { !isSpace($0) } ?? endIndex
        let end = utf8.lastIndex { !isSpace($0) }.map { utf8.index(after: $0) } ?? start
        return String(self[start..<max(start, end)])
    }

    /// Whether two names are the same but for the case of ASCII letters.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        if self == other { return true }
        return withContiguousUTF8 { left in
            other.withContiguousUTF8 { right in
                left.indices.allSatisfy { left[$0].asciiLowercased == right[$0].asciiLowercased }
            }
        }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }
}
