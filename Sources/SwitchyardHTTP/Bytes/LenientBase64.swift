package import Foundation

/// Base 64 as leniently as browsers read it, and more so (RFC 4648 sections 4 and 5, RFC 2045 section 6.8).
///
/// Both alphabets count, also mixed. Line breaks, blanks and other characters outside of the alphabets are passed over,
/// and the padding may be missing, or stand between two parts.
package enum LenientBase64 {
    /// The bytes that a text stands for.
    package static func data(_ text: some Sequence<UInt8>) -> Data {
        var data = Data()
        var (bits, count): (UInt32, Int) = (0, 0)
        for byte in text {
            guard byte != UInt8(ascii: "=") else {
                (bits, count) = (0, 0)
                continue
            }
            guard let value = value(byte) else { continue }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            data.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return data
    }

    /// Whether a text has no other characters than those of the alphabets, padding and space.
    package static func isPure(_ text: some Sequence<UInt8>) -> Bool {
        text.allSatisfy { value($0) != nil || $0 == UInt8(ascii: "=") || [9, 10, 12, 13, 32].contains($0) }
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48 + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
