import Foundation

/// Hides members of JSON without taking it apart, so that order, numbers and spacing stay as they are.
enum JSONRedaction {
    /// Returns the text with every value under a name that `isHidden` picks replaced by `"***"`.
    ///
    /// What is not JSON comes back with what could be recognised hidden. With `keepsBusinessCodes`, a value under `code`
    /// stays unless it could be an authorization code.
    static func hidden(in data: Data, keepsBusinessCodes: Bool = false, isHidden: (String) -> Bool) -> Data {
        let bytes = [UInt8](data)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            guard bytes[position] == quote else {
                output.append(bytes[position])
                position += 1
                continue
            }
            let end = stringEnd(bytes, from: position)
            output += bytes[position..<end]
            let name = text(bytes[position..<end])
            position = end
            guard let value = valueStart(bytes, after: end), isHidden(name) else { continue }
            let valueEnd = valueEnd(bytes, from: value)
            if keepsBusinessCodes, name.lowercased() == "code", isBusinessCode(bytes[value..<valueEnd]) { continue }
            output += bytes[end..<value]
            output += "\"***\"".utf8
            position = valueEnd
        }
        return Data(output)
    }

    /// Whether the first byte that is no space, and of no byte order mark, opens an object or an array.
    static func looksLikeJSON(_ data: Data) -> Bool {
        let first = data.first { ![9, 10, 13, 32, 0xEF, 0xBB, 0xBF].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Whether a value is no nested one and too short for an authorization code, which nobody can guess: 128 bits at
    /// least (RFC 6749 section 10.10), and so 22 characters of base 64.
    private static func isBusinessCode(_ value: ArraySlice<UInt8>) -> Bool {
        guard let first = value.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return false }
        return first == quote ? value.count - 2 < 22 : true
    }

    private static let quote = UInt8(ascii: "\"")

    /// The position behind a string's closing quote.
    private static func stringEnd(_ bytes: [UInt8], from start: Int) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != quote {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }

    /// The start of the value behind a name's colon; `nil` when the string was no name.
    private static func valueStart(_ bytes: [UInt8], after end: Int) -> Int? {
        var position = skippingSpace(bytes, from: end)
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { return nil }
        position = skippingSpace(bytes, from: position + 1)
        return position < bytes.count ? position : nil
    }

    /// The position behind a value; nested ones are skipped whole.
    private static func valueEnd(_ bytes: [UInt8], from start: Int) -> Int {
        var position = start
        var depth = 0
        while position < bytes.count {
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

    private static func skippingSpace(_ bytes: [UInt8], from start: Int) -> Int {
        var position = start
        while position < bytes.count, [9, 10, 13, 32].contains(bytes[position]) { position += 1 }
        return position
    }

    private static func text(_ string: ArraySlice<UInt8>) -> String {
        let value = try? JSONDecoder().decode(String.self, from: Data(string))
        return value ?? String(decoding: string.dropFirst().dropLast(), as: UTF8.self)
    }
}
