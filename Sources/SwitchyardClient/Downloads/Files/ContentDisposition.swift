import Foundation

/// The header field `Content-Disposition` (RFC 6266), as far as a file name is concerned.
enum ContentDisposition {
    /// The file name: that of `filename*` (RFC 8187) where it can be read, else that of `filename`.
    static func fileName(in field: String) -> String? {
        if let extended = MediaTypeParameters.value(of: "filename*", in: field), let name = decoded(extended) {
            return name
        }
        return MediaTypeParameters.value(of: "filename", in: field)
    }

    /// The text of an extended value such as `UTF-8'en'%e2%82%ac`; `nil` for a character set other than UTF-8 and
    /// Latin-1, or escapes that are broken.
    static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = bytes(ofEscaped: parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    private static func bytes(ofEscaped text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
