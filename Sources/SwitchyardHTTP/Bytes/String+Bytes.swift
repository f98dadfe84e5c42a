import Foundation
import SwitchyardServices

// `String.UTF8View` checks the storage form of the string at every byte. Names, values and paths are scanned several
// times per request, so `withContiguousUTF8(_:)` checks the storage form once.
extension String {
    /// Calls `body` with the UTF-8 bytes of the text.
    ///
    /// The bytes are copied only if they are not contiguous.
    @inlinable package func withContiguousUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }

    /// Whether the text contains the given ASCII character.
    package func hasByte(_ byte: UInt8) -> Bool {
        withContiguousUTF8 { $0.contains(byte) }
    }

    /// Returns whether the text starts with a URL scheme and a colon.
    ///
    /// - Parameter scheme: The scheme, which consists of ASCII letters. Its case is ignored.
    /// - Returns: Whether the text starts with them.
    package func begins(withScheme scheme: StaticString) -> Bool {
        withContiguousUTF8 { bytes in
            let count = scheme.utf8CodeUnitCount
            guard bytes.count > count, bytes[count] == UInt8(ascii: ":") else { return false }
            return (0..<count).allSatisfy { bytes[$0] | 0x20 == scheme.utf8Start[$0] | 0x20 }
        }
    }

    /// Returns the text before the first occurrence of any of the given ASCII characters, or the whole text if none of
    /// them occurs.
    ///
    /// The search compares bytes, because a delimiter followed by a combining mark is a different `Character` and would
    /// be missed.
    package func before(_ marks: UInt8...) -> Substring {
        self[..<(utf8.firstIndex(where: marks.contains) ?? endIndex)]
    }

    /// Returns the text after the first occurrence of the given ASCII character, or `nil` if the text does not contain
    /// it.
    ///
    /// The search compares bytes.
    package func behind(_ mark: UInt8) -> Substring? {
        utf8.firstIndex(of: mark).map { self[utf8.index(after: $0)...] }
    }

    /// The text as a quoted string, with a backslash before each quote and backslash (RFC 9110 section 5.6.4).
    package var inQuotes: String {
        var quoted = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}

extension StringProtocol {
    /// The number in a text that consists of decimal digits only, as in header fields.
    ///
    /// The value is `nil` for any other text, or if the number is too large.
    package var wholeNumber: Int64? { utf8.allSatisfy(\.isDigit) ? Int64(self) : nil }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether the bytes start with other bytes.
    func begins(with start: [UInt8]) -> Bool {
        guard let baseAddress, count >= start.count else { return start.isEmpty }
        return memcmp(baseAddress, start, start.count) == 0
    }

    /// Whether the bytes contain a control character other than the tab.
    ///
    /// The loop does not stop at the first control character. Without an early exit the compiler can check several
    /// bytes per step, and control characters are rare.
    var holdsControl: Bool {
        var found: UInt8 = 0
        for index in 0..<count {
            let byte = self[index]
            found |= (byte < 32 ? 1 : 0) & (byte == 9 ? 0 : 1) | (byte == 127 ? 1 : 0)
        }
        return found != 0
    }
}

extension Data {
    /// The number of bytes at the end that start a UTF-8 character without completing it (RFC 3629).
    package var incompleteCharacter: Int {
        for (count, byte) in reversed().prefix(3).enumerated() where byte & 0xc0 != 0x80 {
            let length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
            return length > count + 1 ? count + 1 : 0
        }
        return 0
    }
}
