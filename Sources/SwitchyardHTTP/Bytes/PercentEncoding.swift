/// Percent-encoding into a buffer of bytes (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Appends `byte` as `%XX`.
    @inline(__always)
    static func appendEscaped(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "%"))
        output.append(hexDigit(byte >> 4))
        output.append(hexDigit(byte & 15))
    }

    /// Appends `bytes` and percent-encodes those outside `allowed`.
    ///
    /// If `keepingEscapes` is set, a valid `%XX` is kept.
    package static func append(
        _ bytes: some RandomAccessCollection<UInt8>,
        allowed: URLCharacters,
        keepingEscapes: Bool = false,
        to output: inout [UInt8]
    ) {
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            if allowed.contains(byte) || (keepingEscapes && isEscape(bytes, at: index)) {
                output.append(byte)
            } else {
                appendEscaped(byte, to: &output)
            }
            index = bytes.index(after: index)
        }
    }

    /// Whether a valid `%XX` starts at `index`.
    static func isEscape<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, at index: Bytes.Index) -> Bool {
        guard bytes[index] == UInt8(ascii: "%"), bytes.distance(from: index, to: bytes.endIndex) > 2 else {
            return false
        }
        let first = bytes.index(after: index)
        return value(bytes[first]) != nil && value(bytes[bytes.index(after: first)]) != nil
    }

    /// Returns the value of a hexadecimal digit, or `nil` if the byte is not a hexadecimal digit.
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    @inline(__always)
    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "A")
    }
}
