import SwitchyardServices

extension SecretWalk {
    /// Redacts text, which consists of words.
    ///
    /// A word may be a URL, parameters, the name of the value that follows, or an ordinary word.
    func text(_ bytes: Bytes) -> [UInt8]? {
        var result = Replacements(of: bytes)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let gap = Self.gap(bytes, at: position)
            if gap == 0 {
                position = word(position..<Self.wordEnd(bytes, from: position), bytes, &result)
            } else {
                position = member(bytes, at: position, &result) ?? position + gap
            }
        }
        return result.bytes
    }

    /// Redacts the secrets in a word, or after the word if it announces a secret.
    ///
    /// Returns the position at which to continue.
    private func word(_ range: Range<Int>, _ bytes: Bytes, _ result: inout Replacements) -> Int {
        if let end = block(range, bytes, &result) { return end }
        let word = Self.trimmed(bytes[range])
        guard !word.isEmpty else { return range.upperBound }
        if let end = credential(behind: word, range.upperBound, bytes, &result) { return end }
        if let end = value(behind: word, bytes, &result) { return end }
        if let end = login(by: word, bytes, &result) { return end }
        result.replace(word, with: expression(word))
        return range.upperBound
    }

    /// Redacts a single word, which may be a URL, consist of parameters, or be percent-encoded.
    private func expression(_ word: Bytes) -> [UInt8]? {
        if Self.isDataURL(word) { return url(word) }
        let equals = word.firstIndex(of: UInt8(ascii: "=")) ?? word.endIndex
        if let start = Self.startOfURL(in: word[..<equals], takesRelative: takesRelativeURLs) {
            var result = Replacements(of: word)
            result.replace(word[start...], with: url(word[start...]))
            return result.bytes
        }
        if equals < word.endIndex { return pairs(word) }
        return word.contains(UInt8(ascii: "%")) ? encodedLeaf(word) : words(word)
    }

    /// Redacts parameters that are separated by `&`, `;` or commas.
    ///
    /// A comma may also be part of a value.
    private func pairs(_ word: Bytes) -> [UInt8]? {
        var result = Replacements(of: word)
        var start = word.startIndex
        for comma in word.indices where word[comma] == UInt8(ascii: ",") {
            guard comma >= start, Self.beginsPair(word[(comma + 1)...]) else { continue }
            result.replace(word[start..<comma], with: query(word[start..<comma]))
            start = comma + 1
        }
        result.replace(word[start...], with: query(word[start...]))
        return result.bytes
    }
}

// MARK: - Words

extension SecretWalk {
    /// Returns the length of a word separator at a position: 1 for a space or similar character, 3 for a typographic
    /// quotation mark, otherwise 0.
    private static func gap(_ bytes: Bytes, at position: Int) -> Int {
        let byte = bytes[position]
        if breaks.contains(byte) { return 1 }
        guard byte == 0xE2, position + 2 < bytes.endIndex, bytes[position + 1] == 0x80 else { return 0 }
        return (0x98...0x9F).contains(bytes[position + 2]) ? 3 : 0
    }

    private static func wordEnd(_ bytes: Bytes, from start: Int) -> Int {
        var end = start
        while end < bytes.endIndex, gap(bytes, at: end) == 0 { end += 1 }
        return end
    }

    /// Returns a word without surrounding brackets and punctuation.
    private static func trimmed(_ word: Bytes) -> Bytes {
        let start = word.firstIndex { !"'([,;".utf8.contains($0) } ?? word.endIndex
        let end = word[start...].lastIndex { !"'.,;:!)]".utf8.contains($0) }.map { $0 + 1 } ?? start
        return word[start..<end]
    }

    /// Returns the start of a URL in the part of a word before its first equals sign, or `nil` if there is none.
    private static func startOfURL(in word: Bytes, takesRelative: Bool) -> Int? {
        guard let first = word.first else { return nil }
        if "/?#".utf8.contains(first) { return word.startIndex }
        let colon = word.indices.dropLast(2).first { word[$0...].starts(with: "://".utf8) }
        if let colon {
            let scheme = word[..<colon].lastIndex { !($0.isLetter || $0.isDigit || "+-.".utf8.contains($0)) }
            return scheme.map { $0 + 1 } ?? word.startIndex
        }
        return takesRelative && word.contains { "?#".utf8.contains($0) } ? word.startIndex : nil
    }

    /// Whether the bytes start with a name, an equals sign and a value.
    ///
    /// Equals signs at the end are only Base64 padding.
    private static func beginsPair(_ bytes: Bytes) -> Bool {
        let name = bytes.prefix(64).prefix { nameCharacters.contains($0) }
        let rest = bytes[name.endIndex...]
        guard !name.isEmpty, rest.first == UInt8(ascii: "="), let value = rest.first(where: { $0 != UInt8(ascii: "=") })
        else { return false }
        return value != UInt8(ascii: ",") && !breaks.contains(value) || value == UInt8(ascii: "\"")
    }

    private static func afterSpace(_ bytes: Bytes, from start: Int) -> Int {
        bytes[start...].firstIndex { $0 != 32 && $0 != 9 } ?? bytes.endIndex
    }

    /// The characters that the name of a value can have, such as `token` in `token=S` or in `"token": "S"`.
    private static let nameCharacters = CredentialShape.tokenCharacters.union(URLCharacters("[]$%@"))
}

// MARK: - Credentials

extension SecretWalk {
    /// Redacts a PEM block (RFC 7468) that starts in a word.
    ///
    /// A block without an end extends to the last byte.
    private func block(_ range: Range<Int>, _ bytes: Bytes, _ result: inout Replacements) -> Int? {
        let (opening, closing) = ("-----BEGIN".utf8, "-----END".utf8)
        guard range.count >= opening.count,
            let start = bytes[range].indices.dropLast(opening.count - 1).first(where: {
                bytes[$0] == UInt8(ascii: "-") && bytes[$0...].starts(with: opening)
            })
        else { return nil }
        var end = start + opening.count
        while end < bytes.endIndex, !(bytes[end] == UInt8(ascii: "-") && bytes[end...].starts(with: closing)) {
            end += 1
        }
        let label = bytes[min(end + closing.count, bytes.endIndex)...].firstIndex(of: UInt8(ascii: "-"))
        end = label.flatMap { bytes[$0...].firstIndex { $0 != UInt8(ascii: "-") } } ?? bytes.endIndex
        result.replace(start..<end, with: mark)
        return end
    }

    /// Redacts the credential after the name of a scheme: one word or a list of parameters (RFC 9110 section 11.4).
    private func credential(
        behind scheme: Bytes,
        _ end: Int,
        _ bytes: Bytes,
        _ result: inout Replacements
    ) -> Int? {
        guard scheme.endIndex == end, CredentialShape.isScheme(scheme) else { return nil }
        let start = Self.afterSpace(bytes, from: end)
        guard start > end, start < bytes.endIndex else { return nil }
        let wordEnd = Self.wordEnd(bytes, from: start)
        let value = Self.trimmed(bytes[start..<wordEnd])
        if Self.beginsPair(bytes[start...]) {
            let listEnd = Self.listEnd(bytes, from: start)
            result.replace(start..<listEnd, with: mark)
            return listEnd
        }
        guard CredentialShape.isCredential(value, behind: scheme) else { return nil }
        result.replace(value.indices, with: mark)
        return wordEnd
    }

    /// Redacts the rest of a line that starts with a login command: `PASS S`, `AUTH PLAIN S`.
    private func login(by command: Bytes, _ bytes: Bytes, _ result: inout Replacements) -> Int? {
        guard CredentialShape.isLoginCommand(command),
            command.startIndex == bytes.startIndex || Self.endsLine(bytes[command.startIndex - 1])
        else { return nil }
        let start = Self.afterSpace(bytes, from: command.endIndex)
        let end = bytes[start...].firstIndex(where: Self.endsLine) ?? bytes.endIndex
        let argument = Self.trimmed(bytes[start..<Self.wordEnd(bytes, from: start)])
        guard start > command.endIndex, start < end, !CredentialShape.isWord(argument) else { return nil }
        result.replace(start..<end, with: mark)
        return end
    }

    private static func endsLine(_ byte: UInt8) -> Bool { byte == 10 || byte == 13 }

    /// Returns the end of a comma-separated list of parameters, whose values may be quoted.
    private static func listEnd(_ bytes: Bytes, from start: Int) -> Int {
        var position = start
        while true {
            guard let equals = bytes[position...].firstIndex(of: UInt8(ascii: "=")) else { return bytes.endIndex }
            var end = equals + 1
            if end < bytes.endIndex, bytes[end] == UInt8(ascii: "\"") {
                end = JSONScan.stringEnd(bytes, from: end)
            } else {
                while end < bytes.endIndex, gap(bytes, at: end) == 0, bytes[end] != UInt8(ascii: ",") { end += 1 }
            }
            let comma = afterSpace(bytes, from: end)
            guard comma < bytes.endIndex, bytes[comma] == UInt8(ascii: ",") else { return end }
            let next = afterSpace(bytes, from: comma + 1)
            guard beginsPair(bytes[next...]) else { return end }
            position = next
        }
    }

    /// Redacts the value after a name and a colon or equals sign: `password: S`, `token = S`, `Cookie: a=S; b=S`.
    private func value(behind word: Bytes, _ bytes: Bytes, _ result: inout Replacements) -> Int? {
        let name = word.prefix { Self.nameCharacters.contains($0) }
        guard (2...64).contains(name.count) else { return nil }
        let sign = Self.afterSpace(bytes, from: name.endIndex)
        guard sign < bytes.endIndex, bytes[sign] == UInt8(ascii: ":") || bytes[sign] == UInt8(ascii: "=") else {
            return nil
        }
        let start = Self.afterSpace(bytes, from: sign + 1)
        guard start < bytes.endIndex else { return nil }
        let isQuoted = bytes[start] == UInt8(ascii: "\"") || bytes[start] == UInt8(ascii: "'")
        // Without spaces around the equals sign, the word is a parameter.
        let isPair = bytes[sign] == UInt8(ascii: "=") && sign == name.endIndex && start == sign + 1
        let text = String(decoding: name, as: UTF8.self)
        guard !isPair || isQuoted, redaction.hides(label: text) || isPair && redaction.hides(parameter: text) else {
            return nil
        }
        let isField = bytes[sign] == UInt8(ascii: ":") && redaction.headerNames.contains(text.lowercased())
        guard let range = Self.value(bytes, from: start, isQuoted: isQuoted, isField: isField) else { return nil }
        result.replace(range, with: mark)
        return range.upperBound
    }

    /// Returns the range of a value after its name: quoted text, a whole line, or a word that does not look like part
    /// of a sentence.
    private static func value(_ bytes: Bytes, from start: Int, isQuoted: Bool, isField: Bool) -> Range<Int>? {
        if isQuoted {
            let end = bytes[(start + 1)...].firstIndex { $0 == bytes[start] || endsLine($0) } ?? bytes.endIndex
            return start + 1..<end
        }
        let end = wordEnd(bytes, from: start)
        guard !isField else {
            let lineEnd = bytes[start...].firstIndex(where: endsLine) ?? bytes.endIndex
            let rest = CredentialShape.isScheme(bytes[start..<end]) ? afterSpace(bytes, from: end) : start
            return rest < lineEnd ? rest..<lineEnd : start..<lineEnd
        }
        let word = trimmed(bytes[start..<end])
        let next = afterSpace(bytes, from: end)
        let isLast = next == bytes.endIndex || endsLine(bytes[next])
        return !word.isEmpty && (isLast || CredentialShape.isMixed(word)) ? word.indices : nil
    }

    /// Redacts the value of a JSON member within text, `"token": "S"`, whose quotation marks may be escaped.
    private func member(_ bytes: Bytes, at position: Int, _ result: inout Replacements) -> Int? {
        guard bytes[position] == UInt8(ascii: "\"") else { return nil }
        let name = bytes[(position + 1)...].prefix(64).prefix { Self.nameCharacters.contains($0) }
        let escapes = bytes[name.endIndex...].prefix { $0 == UInt8(ascii: "\\") }
        guard !name.isEmpty, escapes.endIndex < bytes.endIndex, bytes[escapes.endIndex] == UInt8(ascii: "\""),
            let start = JSONScan.valueStart(bytes, after: escapes.endIndex + 1),
            redaction.hides(parameter: String(decoding: name, as: UTF8.self))
        else { return nil }
        let opening = escapes + [UInt8(ascii: "\"")]
        var range = start..<JSONScan.valueEnd(bytes, from: start)
        if !escapes.isEmpty, bytes[start...].starts(with: opening) {
            let first = start + opening.count
            range = first..<Self.first(of: Array(opening), in: bytes, from: first)
        }
        result.replace(range, with: escapes.isEmpty ? [UInt8(ascii: "\"")] + mark + [UInt8(ascii: "\"")] : mark)
        return range.upperBound
    }

    private static func first(of wanted: [UInt8], in bytes: Bytes, from start: Int) -> Int {
        bytes[start...].indices.first { bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted) } ?? bytes.endIndex
    }
}
