import Foundation
import SwitchyardServices

// The view of a text's bytes asks for the text's form again at every byte. Names, values and paths are looked through
// several times with every request, so here the form is asked for once.
extension String {
    /// Runs `body` on the text's bytes where they are; they are copied only where they are not in one piece.
    package func withContiguousUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }

    /// Whether a character of ASCII occurs in the text.
    package func hasByte(_ byte: UInt8) -> Bool {
        withContiguousUTF8 { $0.contains(byte) }
    }

    /// The text in front of the first of some characters of ASCII, all of it where there is none.
    ///
    /// They are looked for by bytes: with a combining mark behind it a delimiter is another `Character`, and would be missed.
    package func before(_ marks: UInt8...) -> Substring {
        self[..<(utf8.firstIndex(where: marks.contains) ?? endIndex)]
    }

    /// The text behind the first place of a character of ASCII, looked for in the same way; `nil` where there is none.
    package func behind(_ mark: UInt8) -> Substring? {
        utf8.firstIndex(of: mark).map { self[utf8.index(after: $0)...] }
    }

    /// The text in quotes, with a backslash before each quote and backslash in it (RFC 9110 section 5.6.4).
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
    /// The number that digits alone make, as in header fields; `nil` for every other text, and for one that is too large.
    package var wholeNumber: Int64? { utf8.allSatisfy(\.isDigit) ? Int64(self) : nil }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether there is a control character other than the tab.
    ///
    /// It looks at all bytes, and not up to the first of them: so many are looked at in one step, and there is hardly
    /// ever one.
    var holdsControl: Bool {
        var found: UInt8 = 0
        for index in 0..<count {
            let byte = self[index]
            found |= (byte < 32 ? 1 : 0) & (byte == 9 ? 0 : 1) | (byte == 127 ? 1 : 0)
        }
        return found != 0
    }

    /// Whether the bytes begin with others.
    func begins(with start: UnsafeRawBufferPointer) -> Bool {
        guard let own = baseAddress, let other = start.baseAddress else { return start.isEmpty }
        return count >= start.count && memcmp(own, other, start.count) == 0
    }
}

extension Data {
    /// How many bytes at the end are the beginning of a character that is not whole yet (RFC 3629).
    package var incompleteCharacter: Int {
        for (count, byte) in reversed().prefix(3).enumerated() where byte & 0xc0 != 0x80 {
            let length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
            return length > count + 1 ? count + 1 : 0
        }
        return 0
    }
}
