import Foundation

/// A scanner that finds names and values in JSON without parsing it.
///
/// In invalid JSON it finds what it can.
enum JSONScan {
    static let quote = UInt8(ascii: "\"")

    /// Returns the position after the closing quote of a string.
    static func stringEnd(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
        var position = start + 1
        while position < bytes.endIndex, bytes[position] != quote {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.endIndex)
    }

    /// Returns the start of the value after a name and its colon, or `nil` if the string is not followed by a colon.
    static func valueStart(_ bytes: ArraySlice<UInt8>, after end: Int) -> Int? {
        let colon = skippingSpace(bytes, from: end)
        guard colon < bytes.endIndex, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let value = skippingSpace(bytes, from: colon + 1)
        return value < bytes.endIndex ? value : nil
    }

    /// Returns the position after a value, including all of its nested values.
    static func valueEnd(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
        var position = start
        var depth = 0
        while position < bytes.endIndex {
            switch bytes[position] {
            case quote:
                position = stringEnd(bytes, from: position)
                if depth == 0 { return position }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return position }
                depth -= 1
                if depth == 0 { return position + 1 }
            case UInt8(ascii: ","): if depth == 0 { return position }
            default: break
            }
            position += 1
        }
        return position
    }

    /// Returns the text of a JSON string that is given with its quotes.
    static func text(_ string: ArraySlice<UInt8>) -> String {
        if string.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(string)) {
            return text
        }
        return String(decoding: content(of: string), as: UTF8.self)
    }

    /// Returns the bytes between the quotes of a string, whose closing quote may be missing.
    static func content(of string: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isClosed = string.count > 1 && string.last == quote
        return string.dropFirst().dropLast(isClosed ? 1 : 0)
    }

    private static func skippingSpace(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
        var position = start
        while position < bytes.endIndex, [9, 10, 13, 32].contains(bytes[position]) { position += 1 }
        return position
    }
}

extension SecretWalk {
    /// Redacts JSON: values with secret names become `"***"`, and secrets inside other values are replaced.
    ///
    /// Order, numbers and spacing are unchanged.
    func json(_ bytes: Bytes) -> [UInt8]? {
        var result = Replacements(of: bytes)
        var position = bytes.startIndex
        var namesSecret = false
        while position < bytes.endIndex {
            guard bytes[position] == JSONScan.quote else {
                if "{}".utf8.contains(bytes[position]) { namesSecret = false }
                position += 1
                continue
            }
            let end = JSONScan.stringEnd(bytes, from: position)
            if let value = JSONScan.valueStart(bytes, after: end) {
                let name = JSONScan.text(bytes[position..<end])
                position = member(name, value, bytes, &namesSecret, &result)
            } else {
                string(bytes[position..<end], &result)
                position = end
            }
        }
        return result.bytes
    }

    /// Redacts the value of a member if necessary, and returns the position at which to continue.
    ///
    /// In a pair such as `{"name": "token", "value": "S"}`, the first member names the second.
    private func member(
        _ name: String,
        _ start: Int,
        _ bytes: Bytes,
        _ namesSecret: inout Bool,
        _ result: inout Replacements
    ) -> Int {
        let lower = name.lowercased()
        let isNamed = namesSecret && Self.valueNames.contains(lower)
        let isSecret = isNamed || redaction.hides(parameter: name)
        let isPairName = Self.pairNames.contains(lower) && bytes[start] == JSONScan.quote
        guard isSecret || isPairName else { return start }
        let end = JSONScan.valueEnd(bytes, from: start)
        if isPairName { namesSecret = redaction.hides(parameter: JSONScan.text(bytes[start..<end])) }
        guard isSecret else { return start }
        if keepsBusinessCodes, lower == "code", Self.isBusinessCode(bytes[start..<end]) { return end }
        result.replace(start..<end, with: [JSONScan.quote] + mark + [JSONScan.quote])
        return end
    }

    /// Redacts a string whose member name is not secret.
    private func string(_ string: Bytes, _ result: inout Replacements) {
        let content = JSONScan.content(of: string)
        guard content.contains(UInt8(ascii: "\\")) else {
            return result.replace(content, with: leaf(content))
        }
        guard let shown = leaf(Array(JSONScan.text(string).utf8)[...]) else { return }
        let text = String(decoding: shown, as: UTF8.self)
        let quoted = try? JSONEncoder().encode(text)
        result.replace(string.indices, with: quoted.map { Array($0) } ?? [JSONScan.quote] + mark + [JSONScan.quote])
    }

    /// Whether a JSON value is neither an array nor an object, and is too short to be an authorization code.
    ///
    /// An authorization code cannot be guessed, so it has at least 128 bits (RFC 6749 section 10.10). In Base64, 128
    /// bits take 22 characters.
    private static func isBusinessCode(_ value: Bytes) -> Bool {
        guard let first = value.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return false }
        return first == JSONScan.quote ? value.count - 2 < 22 : true
    }

    /// The names of members that contain the name of a secret, as `name` does in `{"name": "token", "value": "S"}`.
    ///
    /// `valueNames` are the names of members that then contain the secret itself.
    static let pairNames: Set<String> = ["name", "key", "header", "field", "parameter"]
    static let valueNames: Set<String> = ["value", "values", "val", "content"]
}
