import Foundation

/// Header fields in order.
///
/// Names are compared case-insensitively (RFC 9110 section 5). The container accepts any text. Whether a field may be
/// sent is checked when a request is generated, and again by the transport.
public struct HTTPHeaders: Sendable, Hashable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name as given, in its original case.
        public var name: String
        /// The value.
        ///
        /// Received bytes that are not valid UTF-8 are decoded as Latin-1.
        public var value: String { didSet { isLatin1 = false } }
        /// Whether the value was received as bytes that are not valid UTF-8.
        package private(set) var isLatin1 = false

        /// Creates a field and removes spaces and tabs around the value (RFC 9110 section 5.5).
        public init(name: String, value: String) {
            self.name = name
            self.value = value.withoutSurroundingSpace
        }

        /// Creates a field from a received value that is not valid UTF-8 and was decoded as Latin-1.
        package init(name: String, latin1 value: String) {
            self.init(name: name, value: value)
            isLatin1 = true
        }

        /// The value in a form that can be sent back to a server with its original bytes (``OpaqueText``).
        package var echo: String { isLatin1 ? OpaqueText.marked(value) : value }

        /// Creates a field from a value that ``echo`` returned.
        package init(name: String, echo: String) {
            let value = OpaqueText.unmarked(echo)
            self.init(name: name, value: value)
            isLatin1 = value != echo
        }
    }

    /// The fields, in order.
    public private(set) var fields: [Field]

    /// Creates a container of fields, by default an empty one.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Appends a field, even if there are fields with the same name.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    package mutating func add(_ field: Field) {
        fields.append(field)
    }

    /// Replaces all fields with a name by one field, at the position of the first field with the name.
    ///
    /// If there is no field with the name, the field is appended.
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

    /// Removes all fields with a name.
    public mutating func remove(_ name: String) {
        fields.removeAll { $0.name.equalsIgnoringASCIICase(name) }
    }

    /// The first value of the fields with a name.
    ///
    /// Setting `nil` removes the fields.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value }
        set {
            if let newValue { set(name, newValue) } else { remove(name) }
        }
    }

    /// Returns the first value of the fields with a name, in the form that is sent back to a server (``Field/echo``).
    package func echo(of name: String) -> String? {
        fields.first { $0.name.equalsIgnoringASCIICase(name) }?.echo
    }

    /// Returns all values of the fields with a name, in the form that is sent back to a server (``Field/echo``).
    package func echoes(of name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.echo)
    }

    /// Returns all values of the fields with a name, in order.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
    }

    /// Returns these fields, except those whose names occur in `other`, followed by the fields of `other`.
    ///
    /// Repeated fields in `other` are kept.
    package func overridden(by other: HTTPHeaders) -> HTTPHeaders {
        guard !other.fields.isEmpty else { return self }
        guard !fields.isEmpty else { return other }
        var result = fields.filter { field in
            !other.fields.contains { $0.name.equalsIgnoringASCIICase(field.name) }
        }
        result += other.fields
        return HTTPHeaders(result)
    }

    /// Returns the fields sorted by name in ascending order; fields with the same name keep their order.
    package func sorted() -> HTTPHeaders {
        let keys = fields.map { $0.name.lowercased() }
        let order = fields.indices.sorted { keys[$0] == keys[$1] ? $0 < $1 : keys[$0] < keys[$1] }
        return HTTPHeaders(order.map { fields[$0] })
    }

    /// The first field that must not be sent, or `nil` if all fields are valid.
    ///
    /// A field is invalid if its name is empty or contains a separator or a space, or if its value contains a control
    /// character other than the tab. CR, LF and NUL would allow header injection (RFC 9110 section 5.5).
    package var firstInvalidField: Field? {
        // Searching by position avoids copying each field.
        fields.indices.first { !fields[$0].isValid }.map { fields[$0] }
    }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    /// The field as a line: `Name: value`.
    ///
    /// Credentials are not redacted. For a log use ``HTTPHeaders/redactedDescription``.
    public var description: String { "\(name): \(value)" }

    /// Whether the field may be sent.
    ///
    /// See ``HTTPHeaders/firstInvalidField``.
    package var isValid: Bool {
        HTTPToken.isValid(name) && value.isFieldValue
    }
}

extension HTTPHeaders {
    /// Returns the first value of the fields with a name, or `nil` if a later request cannot send that value back to
    /// the server.
    ///
    /// The result is `nil` for an empty value and for a value that is not allowed in a header field. Values that are
    /// stored to be sent back later, such as `ETag`, are read with this function, because an invalid value would make
    /// every later request fail before it is sent.
    package func returnable(_ name: String) -> String? {
        guard let value = echo(of: name), !value.isEmpty, value.isFieldValue else { return nil }
        return value
    }
}

extension String {
    /// Whether the text is allowed as the value of a header field.
    ///
    /// See ``HTTPHeaders/firstInvalidField``.
    package var isFieldValue: Bool { !withContiguousUTF8(\.holdsControl) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, one per line.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates the fields of a dictionary literal in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The first position.
    public var startIndex: Int { fields.startIndex }
    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    /// Creates the fields of an array literal in its order: `[.accept("application/json"), .bearer(token)]`.
    public init(arrayLiteral elements: Field...) {
        fields = elements
    }
}

extension String {
    /// The text without leading and trailing spaces and tabs.
    fileprivate var withoutSurroundingSpace: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
        let start = utf8.firstIndex { !isSpace($0) } ?? endIndex
        let end = utf8.lastIndex { !isSpace($0) }.map { utf8.index(after: $0) } ?? start
        return String(self[start..<max(start, end)])
    }

    /// Whether two names are equal if the case of ASCII letters is ignored.
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

/// Fields by name, for literals such as `[.accept("application/json"), .bearer(token)]`.
extension HTTPHeaders.Field {
    /// `Accept`: the media types that the app accepts.
    public static func accept(_ value: String) -> Self { Self(name: "Accept", value: value) }
    /// `Authorization` with any scheme.
    public static func authorization(_ value: String) -> Self { Self(name: "Authorization", value: value) }
    /// `Authorization` with a bearer token (RFC 6750).
    public static func bearer(_ token: String) -> Self { authorization("Bearer \(token)") }
    /// `Authorization` with a user name and a password in UTF-8 (RFC 7617).
    ///
    /// A user name with a colon cannot be sent, because the first colon ends the name (section 2). In this case the
    /// field has an invalid value, and sending it fails with ``RequestError/HeaderReason/colonInUserName``.
    public static func basic(user: String, password: String) -> Self {
        // Compare bytes, because a colon followed by a combining mark is a different `Character`.
        guard !user.hasByte(UInt8(ascii: ":")) else { return authorization(valueOfNoUser) }
        return authorization("Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
    /// The value for a user name that cannot be sent.
    ///
    /// The value is invalid in a header field, so it is never sent by mistake.
    static let valueOfNoUser = "Basic \0:"
    /// `Content-Type`: the media type of the body.
    public static func contentType(_ value: String) -> Self { Self(name: "Content-Type", value: value) }
    /// `User-Agent`: the program that sends the request.
    public static func userAgent(_ value: String) -> Self { Self(name: "User-Agent", value: value) }
}

extension HTTPHeaders {
    /// Removes the fields with credentials: `Authorization` and `Proxy-Authorization`.
    package mutating func removeAuthorization() {
        remove("Authorization")
        remove("Proxy-Authorization")
    }
}

/// Access to fields whose values are lists (RFC 9110 section 5.6.1).
extension HTTPHeaders {
    /// Returns the elements of the lists in all fields with a name, in order and without empty elements.
    ///
    /// - Parameters:
    ///   - name: The name of the fields.
    ///   - separator: The separator between elements; a comma by default. Separators in quotes are ignored.
    /// - Returns: The elements, without whitespace around them.
    public func elements(of name: String, separatedBy separator: Character = ",") -> [String] {
        values(of: name).flatMap { HeaderList.elements(of: $0, separatedBy: separator) }
    }

    /// Returns the values of all fields with a name, joined with commas (RFC 9110 section 5.3), or `nil` if there are
    /// none.
    ///
    /// This method is not suitable for `Set-Cookie`, whose values contain commas.
    package func combined(_ name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The media type of the body with its parameters, or `nil` if it is not given.
    ///
    /// Some servers and proxies repeat the field, repeat the value in it or leave it empty. In this case the last valid
    /// type is used. If that type has no character set, and the types directly before it are the same type, their
    /// character set is used (Fetch standard, "extract a MIME type").
    public var contentType: String? {
        guard let first = fields.firstIndex(where: { $0.name.equalsIgnoringASCIICase("Content-Type") }) else {
            return nil
        }
        let isOnly = !fields[(first + 1)...].contains { $0.name.equalsIgnoringASCIICase("Content-Type") }
        let value = fields[first].value
        if isOnly, !value.hasByte(UInt8(ascii: ",")) { return value.isEmpty ? nil : value }
        // All `Content-Type` lines are joined into one list, in which an unclosed quote extends over the lines after
        // it.
        let named = HeaderList.elements(of: values(of: "Content-Type").joined(separator: ", "), separatedBy: ",")
        let types = named.filter(Self.isMediaType)
        guard let last = types.last else { return named.first }
        let alike = types.reversed().prefix { Self.essence(of: $0) == Self.essence(of: last) }
        guard let charset = alike.lazy.compactMap({ MediaType($0)?.charset }).first, MediaType(last)?.charset == nil
        else { return last }
        // The character set goes before the other parameters, because another parameter may have an unclosed quote.
        let names = last.before(UInt8(ascii: ";"))
        return "\(names);charset=\(HTTPToken.isValid(charset) ? charset : charset.inQuotes)\(last[names.endIndex...])"
    }

    private static func isMediaType(_ text: String) -> Bool {
        let names = essence(of: text).split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && names.allSatisfy { HTTPToken.isValid(String($0)) } && !names.contains("*")
    }

    /// Returns the type and subtype in lower case, without parameters.
    package static func essence(of mediaType: String) -> String {
        HTTPHeaders.Field(name: "", value: String(mediaType.before(UInt8(ascii: ";")))).value.lowercased()
    }

    /// The length of the body in bytes (RFC 9110 section 8.6), or `nil` if the field is missing or not a number.
    package var contentLength: Int64? {
        self["Content-Length"]?.wholeNumber
    }

    /// Whether the content has no content coding such as gzip (RFC 9110 section 8.4).
    package var hasPlainContent: Bool {
        elements(of: "Content-Encoding").allSatisfy { $0.equalsIgnoringASCIICase("identity") }
    }
}

enum HeaderList {
    static func elements(of text: String, separatedBy separator: Character) -> [String] {
        pieces(of: text, separatedBy: separator)
            .map { HTTPHeaders.Field(name: "", value: String($0)).value }
            .filter { !$0.isEmpty }
    }

    /// Returns the parts of the text between separators, ignoring separators in quotes.
    static func pieces(of text: String, separatedBy separator: Character) -> [Substring] {
        var pieces: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        // Iterate over scalars, because a combining mark after a quote or separator would hide that character in a
        // `Character`.
        let scalars = text.unicodeScalars
        let separator = separator.unicodeScalars.first
        for index in scalars.indices {
            let scalar = scalars[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == separator, !isQuoted {
                pieces.append(text[start..<index])
                start = scalars.index(after: index)
            }
        }
        return pieces + [text[start...]]
    }
}
