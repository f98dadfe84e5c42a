import SwitchyardClient
import SwitchyardHTTP

extension JSONParser {
    /// A string, from its quote on.
    mutating func string() throws(DecodingFailure) -> String {
        guard take(UInt8(ascii: "\"")) else { throw malformed() }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let text = try text(bytes[start..<position])
                position += 1
                return text
            case UInt8(ascii: "\\"):
                return try stringWithEscapes(from: start)
            case 0..<0x20:
                throw malformed()
            default:
                position += 1
            }
        }
        throw malformed()
    }

    /// The rest of a string in which an escape was found.
    private mutating func stringWithEscapes(from start: Int) throws(DecodingFailure) -> String {
        var result = ContiguousArray(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return try text(result[...])
            case UInt8(ascii: "\\"): try escape(into: &result)
            case 0..<0x20:
                position -= 1
                throw malformed()
            default: result.append(byte)
            }
        }
        throw malformed()
    }

    private mutating func escape(into result: inout ContiguousArray<UInt8>) throws(DecodingFailure) {
        guard position < bytes.count else { throw malformed() }
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "u"):
            position += 1
            result.append(contentsOf: String(try scalar()).utf8)
            return
        default: throw malformed()
        }
        position += 1
    }

    /// The scalar of one escape, or of two that are a surrogate pair; half a pair is no text.
    private mutating func scalar() throws(DecodingFailure) -> Character {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard (0xD800..<0xDC00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw malformed()
        }
        let second = try hexadecimal()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw malformed() }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(DecodingFailure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw malformed()
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    /// The bytes as text, if they are UTF-8.
    private func text(_ slice: ArraySlice<UInt8>) throws(DecodingFailure) -> String {
        guard let text = String(validUTF8: slice) else { throw malformed() }
        return text
    }
}
