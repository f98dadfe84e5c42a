package import Foundation

/// A Base64 decoder that is at least as lenient as the decoders of browsers (RFC 4648 sections 4 and 5, RFC 2045
/// section 6.8).
///
/// The decoder accepts the standard alphabet and the URL-safe alphabet, even mixed. It skips line breaks, spaces and
/// other characters outside the alphabets. Padding may be missing, or be between two encoded parts.
package enum LenientBase64 {
    /// Returns the bytes that a Base64 text encodes.
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

    /// Whether `text` contains only characters of the two Base64 alphabets, padding and whitespace.
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
