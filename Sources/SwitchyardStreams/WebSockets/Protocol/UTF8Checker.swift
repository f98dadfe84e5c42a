import Foundation

/// A validator for UTF-8 text (RFC 3629) that arrives in chunks.
///
/// It detects the first invalid byte immediately.
struct UTF8Checker {
    /// The number of bytes that are missing from the current character.
    private var missing = 0
    /// The values that are allowed for the next byte of the current character.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the text ends with a complete character.
    var isComplete: Bool { missing == 0 }

    /// Returns the text of complete UTF-8 data, or `nil` if the data is not valid UTF-8.
    static func text(_ bytes: Data) -> String? {
        var checker = UTF8Checker()
        guard checker.accept(bytes), checker.isComplete else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Checks the next chunk of the text, and returns `false` if the text is invalid.
    mutating func accept(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { bytes in
            for byte in bytes where !(missing == 0 && byte < 0x80) {
                guard accept(byte) else { return false }
            }
            return true
        }
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        guard missing == 0 else {
            defer { allowed = 0x80...0xBF }
            missing -= 1
            return allowed.contains(byte)
        }
        switch byte {
        case 0xC2...0xDF: expect(1)
        case 0xE0: expect(2, from: 0xA0)
        case 0xED: expect(2, to: 0x9F)
        case 0xE1...0xEF: expect(2)
        case 0xF0: expect(3, from: 0x90)
        case 0xF1...0xF3: expect(3)
        case 0xF4: expect(3, to: 0x8F)
        default: return false
        }
        return true
    }

    private mutating func expect(_ count: Int, from low: UInt8 = 0x80, to high: UInt8 = 0xBF) {
        missing = count
        allowed = low...high
    }
}
