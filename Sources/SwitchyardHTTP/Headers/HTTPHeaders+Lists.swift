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
        let named = elements(of: "Content-Type")
        guard let last = named.last(where: Self.isMediaType) else { return named.first }
        let alike = named.filter { Self.essence(of: $0) == Self.essence(of: last) }
        return last.contains("=") ? last : alike.last { $0.contains("=") } ?? last
    }

    private static func isMediaType(_ text: String) -> Bool {
        let names = essence(of: text).split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && names.allSatisfy { HTTPToken.isValid(String($0)) } && !names.contains("*")
    }

    /// Type and subtype, without parameters.
    package static func essence(of mediaType: String) -> String {
        HTTPHeaders.Field(name: "", value: String(mediaType.prefix { $0 != ";" })).value.lowercased()
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
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted {
                pieces.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return pieces + [text[start...]]
    }
}
