extension SecretWalk {
    /// Redacts XML or HTML.
    ///
    /// The contents of elements and the values of attributes with secret names are replaced, and secrets inside other
    /// contents are replaced.
    func xml(_ bytes: Bytes) -> [UInt8]? {
        var result = Replacements(of: bytes)
        var position = bytes.startIndex
        /// Whether the markup before the content says that the content is a secret, as a `<key>` in a property list
        /// does.
        var namesSecret = false
        while position < bytes.endIndex {
            let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.endIndex
            content(bytes[position..<open], &namesSecret, &result)
            guard open < bytes.endIndex else { break }
            position = markup(bytes, at: open, &namesSecret, &result)
        }
        return result.bytes
    }

    /// Redacts the content between two tags.
    private func content(_ bytes: Bytes, _ namesSecret: inout Bool, _ result: inout Replacements) {
        guard bytes.contains(where: { $0 > 32 }) else { return }
        if namesSecret {
            result.replace(bytes.indices, with: mark)
            namesSecret = false
        } else {
            result.replace(bytes, with: leaf(bytes))
        }
    }

    /// Redacts a tag, a comment or a section at its first byte, and returns the position at which to continue.
    private func markup(
        _ bytes: Bytes,
        at start: Int,
        _ namesSecret: inout Bool,
        _ result: inout Replacements
    ) -> Int {
        for (opening, closing) in [("<![CDATA[", "]]>"), ("<!--", "-->")]
        where bytes[start...].starts(with: opening.utf8) {
            let first = start + opening.utf8.count
            let end = Self.first(closing, in: bytes, from: first)
            content(bytes[first..<end], &namesSecret, &result)
            return min(end + closing.utf8.count, bytes.endIndex)
        }
        let end = Self.tagEnd(bytes, from: start)
        let tag = bytes[start..<end]
        let name = tag.dropFirst().prefix { $0 > 32 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        guard !name.isEmpty, !"!?".utf8.contains(name.first ?? 0) else { return end }
        attributes(tag[name.endIndex...], &result)
        guard tag.suffix(2).first != UInt8(ascii: "/") else { return end }
        let local = String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? name, as: UTF8.self)
        let lower = local.lowercased()
        if Self.pairNames.contains(lower) {
            let text = bytes[end...].prefix { $0 != UInt8(ascii: "<") }
            let names = redaction.hides(parameter: String(decoding: text.prefix(64), as: UTF8.self))
            result.replace(text, with: leaf(text))
            namesSecret = names
            return text.endIndex
        }
        guard hides(local), !(keepsBusinessCodes && lower == "code") else { return end }
        let close = Self.end(of: name, in: bytes, from: end)
        result.replace(end..<close, with: mark)
        return close
    }

    private func attributes(_ bytes: Bytes, _ result: inout Replacements) {
        var position = bytes.startIndex
        var namesSecret = false
        while let equals = bytes[position...].firstIndex(of: UInt8(ascii: "=")) {
            let start = bytes[(equals + 1)...].firstIndex { $0 > 32 } ?? bytes.endIndex
            guard start < bytes.endIndex else { return }
            let isQuoted = "\"'".utf8.contains(bytes[start])
            let first = isQuoted ? start + 1 : start
            let end =
                bytes[first...].firstIndex { isQuoted ? $0 == bytes[start] : $0 <= 32 || $0 == UInt8(ascii: ">") }
                ?? bytes.endIndex
            let value = bytes[first..<end]
            let name = Self.name(in: bytes[position..<equals])
            let lower = name.lowercased()
            let isPairName = Self.pairNames.contains(lower)
            if hides(name) || namesSecret && Self.valueNames.contains(lower) {
                result.replace(value.indices, with: mark)
            } else {
                result.replace(value, with: leaf(value))
            }
            if isPairName { namesSecret = redaction.hides(parameter: String(decoding: value, as: UTF8.self)) }
            position = end
        }
    }

    /// Returns the last word of a part of a tag, without its namespace prefix.
    private static func name(in bytes: Bytes) -> String {
        let word = bytes.split { $0 <= 32 }.last ?? bytes
        return String(decoding: word.split(separator: UInt8(ascii: ":")).last ?? word, as: UTF8.self)
    }

    /// Whether an element or attribute is secret.
    ///
    /// `key` is excluded, because in XML it contains a name.
    private func hides(_ name: String) -> Bool { name.lowercased() != "key" && redaction.hides(parameter: name) }

    /// Returns the position after a tag.
    ///
    /// A `>` in quotation marks does not end the tag.
    private static func tagEnd(_ bytes: Bytes, from start: Int) -> Int {
        var quote: UInt8?
        for position in start..<bytes.endIndex {
            let byte = bytes[position]
            if byte == quote {
                quote = nil
            } else if quote == nil, "\"'".utf8.contains(byte) {
                quote = byte
            } else if quote == nil, byte == UInt8(ascii: ">") {
                return position + 1
            }
        }
        return bytes.endIndex
    }

    /// Returns the start of the closing tag of an element, skipping nested elements with the same name.
    private static func end(of name: Bytes, in bytes: Bytes, from start: Int) -> Int {
        var depth = 1
        var position = start
        while let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = bytes[(open + 1)...]
            if rest.starts(with: name) { depth += 1 }
            if rest.first == UInt8(ascii: "/"), rest.dropFirst().starts(with: name) { depth -= 1 }
            if depth == 0 { return open }
            position = open + 1
        }
        return bytes.endIndex
    }

    private static func first(_ wanted: String, in bytes: Bytes, from start: Int) -> Int {
        let wanted = Array(wanted.utf8)
        return bytes[start...].indices.first { bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted) }
            ?? bytes.endIndex
    }
}
