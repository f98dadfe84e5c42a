package import Foundation
import SwitchyardHTTP
import SwitchyardServices

/// Functions that convert between a body and its text in an archive.
package enum HARText {
    /// The body of an exchange in an archive, decoded according to its encoding label and its content.
    package enum Content {
        /// The decoded bytes of a body that was encoded in base64.
        case bytes(Data)
        /// A body that is stored as plain text.
        case text(String)
        /// A body whose label names an unsupported encoding.
        ///
        /// The associated value is the label.
        case unreadable(String)

        /// The bytes of the body, or `nil` if the body is unreadable.
        package var data: Data? {
            switch self {
            case .bytes(let data): data
            case .text(let text): Data(text.utf8)
            case .unreadable: nil
            }
        }
    }

    /// Returns the text of a body for an archive, and the name of its encoding: `base64`, or `nil` for plain text.
    package static func text(_ data: Data) -> (text: String, encoding: String?) {
        // Foundation's decoding is not used because it drops a byte order mark.
        if let text = String(validUTF8: data), !text.utf8.contains(0) { return (text, nil) }
        return (data.base64EncodedString(), "base64")
    }

    /// Decodes a body from an archive, which may come from any program.
    ///
    /// Base64 is decoded as leniently as `LenientBase64` does. If the label is base64 and the content type is a text
    /// type, but the decoded bytes are not text, the label counts as wrong. In this case, the text itself is the body.
    ///
    /// - Parameters:
    ///   - text: The text of the body.
    ///   - encoding: The label of the encoding, such as `base64`, or `nil` if there is none.
    ///   - type: The content type of the body.
    /// - Returns: The body.
    package static func content(_ text: String, _ encoding: String?, type: String) -> Content {
        let label = (encoding ?? "").lowercased().filter { $0.isLetter || $0.isNumber }
        if plainLabels.contains(where: label.hasPrefix) || label.isEmpty { return .text(text) }
        let isPure = LenientBase64.isPure(text.utf8)
        // These labels name a content coding (such as gzip) that the recording program has already decoded.
        if codings.contains(label), !isPure { return .text(text) }
        guard label.contains("base64") else { return .unreadable(encoding ?? "") }
        return isText(text, type, isPure) ? .text(text) : .bytes(LenientBase64.data(text.utf8))
    }

    /// Returns whether a text with the label `base64` is really plain text.
    ///
    /// Valid base64 counts as base64, unless it is a short word such as `true`.
    private static func isText(_ text: String, _ type: String, _ isPure: Bool) -> Bool {
        let data = LenientBase64.data(text.utf8)
        let isStrict = Data(base64Encoded: text) != nil
        let isWord = text.utf8.count < 16 && text.utf8.allSatisfy { (97...122).contains($0) }
        guard !isStrict || isWord && !type.isEmpty else { return false }
        if isLegible(data, type) {
            let letters = text.utf8.count { LenientBase64.isPure([$0]) }
            return isPure ? data.count < 3 && !data.isEmpty : data.count < 8 || letters * 5 < text.utf8.count * 4
        }
        guard isPure else { return true }
        let length = text.utf8.count { $0 > 32 }
        return namesText(type) && (text.utf8.contains(32) || length % 4 != 0 || length < 16)
    }

    /// The labels that mean plain text.
    ///
    /// The names of charsets count too, because the text of an archive is already decoded.
    private static let plainLabels = [
        "utf", "iso8859", "windows", "ascii", "usascii", "latin", "identity", "none", "null", "text", "plain", "7bit",
        "8bit",
    ]
    private static let codings: Set<String> = ["gzip", "xgzip", "deflate", "br", "zstd", "compress"]

    /// Returns whether a content type is a text type or empty.
    private static func namesText(_ type: String) -> Bool {
        let words = ["text", "json", "xml", "html", "script", "urlencoded", "multipart", "yaml", "csv"]
        let lower = type.lowercased()
        return lower.isEmpty || words.contains(where: lower.contains)
    }

    /// Returns whether bytes are readable text.
    ///
    /// Base64 decoding of a text that is not base64 produces arbitrary bytes.
    private static func isLegible(_ data: Data, _ type: String) -> Bool {
        if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) { return true }
        if type.lowercased().contains("utf-16") { return true }
        let odd = data.count { $0 < 32 && ![9, 10, 12, 13].contains($0) || $0 == 127 }
        if String(validUTF8: data) != nil { return odd * 10 <= data.count }
        let foreign = data.count { $0 >= 128 }
        return (odd + foreign) * 10 <= data.count * 3
    }
}
