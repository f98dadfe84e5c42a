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
