import Foundation

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

/// Fields by name, so that a header literal reads well: `[.accept("application/json"), .bearer(token)]`.
extension HTTPHeaders.Field {
    /// `Accept`: the media types that the caller understands.
    public static func accept(_ value: String) -> Self { Self(name: "Accept", value: value) }
    /// `Accept-Charset`: the character sets that the caller understands.
    public static func acceptCharset(_ value: String) -> Self { Self(name: "Accept-Charset", value: value) }
    /// `Accept-Encoding`: the compressions that the caller undoes itself.
    ///
    /// Leave it to the transport, which names what it can undo, unless the body is wanted compressed.
    public static func acceptEncoding(_ value: String) -> Self { Self(name: "Accept-Encoding", value: value) }
    /// `Accept-Language`: the languages that the caller prefers.
    public static func acceptLanguage(_ value: String) -> Self { Self(name: "Accept-Language", value: value) }
    /// `Authorization` with any scheme.
    public static func authorization(_ value: String) -> Self { Self(name: "Authorization", value: value) }
    /// `Authorization` with a token (RFC 6750).
    public static func bearer(_ token: String) -> Self { authorization("Bearer \(token)") }
    /// `Authorization` with a name and a password in UTF-8 (RFC 7617).
    ///
    /// A name with a colon cannot be sent, since the first colon ends the name (section 2): the field of one has no valid
    /// value, and whatever is to send it fails with ``RequestError/HeaderReason/colonInUserName``.
    public static func basic(user: String, password: String) -> Self {
        // By bytes: a colon that is joined to what follows it is one all the same.
        guard !user.hasByte(UInt8(ascii: ":")) else { return authorization(valueOfNoUser) }
        return authorization("Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
    /// Stands for a name and a password that cannot be sent: no field may hold it, so nothing sends it by mistake.
    static let valueOfNoUser = "Basic \0:"
    /// `Cache-Control`: what caches on the way may do.
    public static func cacheControl(_ value: String) -> Self { Self(name: "Cache-Control", value: value) }
    /// `Content-Disposition`: how content is to be shown or named.
    public static func contentDisposition(_ value: String) -> Self { Self(name: "Content-Disposition", value: value) }
    /// `Content-Encoding`: how the body is compressed.
    public static func contentEncoding(_ value: String) -> Self { Self(name: "Content-Encoding", value: value) }
    /// `Content-Type`: what the body is.
    public static func contentType(_ value: String) -> Self { Self(name: "Content-Type", value: value) }
    /// `Cookie`: cookies, already joined.
    public static func cookie(_ value: String) -> Self { Self(name: "Cookie", value: value) }
    /// `If-Match`: only if the entity tag is this.
    public static func ifMatch(_ value: String) -> Self { Self(name: "If-Match", value: value) }
    /// `If-Modified-Since`: only if changed after that HTTP date.
    public static func ifModifiedSince(_ value: String) -> Self { Self(name: "If-Modified-Since", value: value) }
    /// `If-None-Match`: only if the entity tag is not this.
    public static func ifNoneMatch(_ value: String) -> Self { Self(name: "If-None-Match", value: value) }
    /// `Origin`: where the request comes from.
    public static func origin(_ value: String) -> Self { Self(name: "Origin", value: value) }
    /// `Range`: the part that is wanted.
    public static func range(_ value: String) -> Self { Self(name: "Range", value: value) }
    /// `Referer`: the page that led here.
    public static func referer(_ value: String) -> Self { Self(name: "Referer", value: value) }
    /// `Sec-WebSocket-Protocol`: the protocols that the caller speaks over a WebSocket.
    public static func webSocketProtocol(_ value: String) -> Self { Self(name: "Sec-WebSocket-Protocol", value: value) }
    /// `User-Agent`: the program that asks.
    public static func userAgent(_ value: String) -> Self { Self(name: "User-Agent", value: value) }
}

extension HTTPHeaders {
    /// Removes the credentials that requests carry: `Authorization` and `Proxy-Authorization`.
    public mutating func removeAuthorization() {
        remove("Authorization")
        remove("Proxy-Authorization")
    }
}

/// Fields that hold lists (RFC 9110 section 5.6.1).
extension HTTPHeaders {
    /// The elements of the lists in all fields of that name, in order; empty ones are left out.
    ///
    /// - Parameters:
    ///   - name: The name of the fields.
    ///   - separator: What stands between elements, where it is not in quotes; a comma unless given.
    /// - Returns: The elements, without space around them.
    public func elements(of name: String, separatedBy separator: Character = ",") -> [String] {
        values(of: name).flatMap { HeaderList.elements(of: $0, separatedBy: separator) }
    }

    /// The values of all fields of that name as one, with commas between them (RFC 9110 section 5.3).
    ///
    /// `nil` when there is none. Not for `Set-Cookie`, whose values hold commas of their own.
    public func combined(_ name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The media type of the body, with its parameters; `nil` when none is named.
    ///
    /// Servers, and proxies before them, repeat the field, double its value or leave it empty. Then the last type that is
    /// one counts, with the character set that it was named with before, if it names none itself (Fetch standard, "extract
    /// a MIME type").
    public var contentType: String? {
        guard let first = fields.firstIndex(where: { $0.name.equalsIgnoringASCIICase("Content-Type") }) else {
            return nil
        }
        let isOnly = !fields[(first + 1)...].contains { $0.name.equalsIgnoringASCIICase("Content-Type") }
        let value = fields[first].value
        if isOnly, !value.hasByte(UInt8(ascii: ",")) { return value.isEmpty ? nil : value }
        // The lines are one list, in which a quote that is left open takes in what follows.
        let named = HeaderList.elements(of: values(of: "Content-Type").joined(separator: ", "), separatedBy: ",")
        let types = named.filter(Self.isMediaType)
        guard let last = types.last else { return named.first }
        let alike = types.reversed().prefix { Self.essence(of: $0) == Self.essence(of: last) }
        guard let charset = alike.lazy.compactMap({ MediaType($0)?.charset }).first, MediaType(last)?.charset == nil
        else { return last }
        // In front of the other parameters, one of which may be a quote that is left open.
        let names = last.before(UInt8(ascii: ";"))
        return "\(names);charset=\(HTTPToken.isValid(charset) ? charset : charset.inQuotes)\(last[names.endIndex...])"
    }

    private static func isMediaType(_ text: String) -> Bool {
        let names = essence(of: text).split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && names.allSatisfy { HTTPToken.isValid(String($0)) } && !names.contains("*")
    }

    /// Type and subtype, without parameters.
    package static func essence(of mediaType: String) -> String {
        HTTPHeaders.Field(name: "", value: String(mediaType.before(UInt8(ascii: ";")))).value.lowercased()
    }

    /// The length of the body in bytes (RFC 9110 section 8.6); `nil` when there is none, or it is no number.
    package var contentLength: Int64? {
        self["Content-Length"]?.wholeNumber
    }

    /// Whether the content comes as it is, in no coding such as gzip (RFC 9110 section 8.4).
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

    /// The pieces between separators that do not stand in quotes.
    static func pieces(of text: String, separatedBy separator: Character) -> [Substring] {
        var pieces: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        // By scalars: a mark that is joined to a quote or a separator must not hide it.
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
