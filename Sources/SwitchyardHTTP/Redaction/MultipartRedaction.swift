import Foundation

/// A redaction of the parts of a multipart form (RFC 7578) that leaves all other bytes unchanged.
struct MultipartRedaction {
    /// A closure that receives the name of a part and returns whether the part's content is replaced by `***`.
    let isHidden: (String) -> Bool
    /// A closure that redacts the content of a part that is not replaced, given its content type or `nil`.
    let body: (Data, String?) -> Data
    /// A closure that redacts a file name.
    let text: (String) -> String

    /// Returns the form with its secrets redacted.
    ///
    /// If the data is not a valid form, the recognizable parts are redacted. Lines may end with a line feed only.
    func hidden(in data: Data, boundary: String) -> Data {
        let delimiter = Data("--\(boundary)".utf8)
        var output = Data()
        var rest = data[...]
        while let mark = rest.range(of: delimiter) {
            output += part(rest[..<mark.lowerBound])
            output += delimiter
            rest = rest[mark.upperBound...]
        }
        return output + part(rest)
    }

    /// Returns the redacted bytes between two delimiters, including the line ends on both sides.
    private func part(_ bytes: Data) -> Data {
        let gaps = [bytes.range(of: Data("\r\n\r\n".utf8)), bytes.range(of: Data("\n\n".utf8))].compactMap(\.self)
        guard let gap = gaps.min(by: { $0.lowerBound < $1.lowerBound }) else { return bytes }
        let end = Data((bytes[gap].first == 13 ? "\r\n" : "\n").utf8)
        let lines = String(decoding: bytes[..<gap.lowerBound], as: UTF8.self)
        let disposition = Self.value(of: "content-disposition", in: lines).map { ContentDisposition(parsing: $0) }
        let head = self.head(bytes[..<gap.lowerBound], lines, disposition?["filename"]) + bytes[gap]
        if let name = disposition?["name"], isHidden(name) { return head + Data("***".utf8) + end }
        let type = Self.value(of: "content-type", in: lines)?.trimmingCharacters(in: .whitespaces)
        let content = bytes[gap.upperBound...]
        guard content.suffix(end.count) == end else { return head + body(content, type) }
        return head + body(content.dropLast(end.count), type) + end
    }

    /// Returns the header fields of a part with secrets in the file name redacted.
    private func head(_ bytes: Data, _ lines: String, _ fileName: String?) -> Data {
        guard let fileName, !fileName.isEmpty else { return bytes }
        let shown = text(fileName)
        return shown == fileName ? bytes : Data(lines.replacing(fileName, with: shown).utf8)
    }

    /// Returns the value of a header field of a part.
    private static func value(of name: String, in head: String) -> String? {
        let prefix = "\(name):"
        let line = head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(prefix) }
        return line.map { String($0.dropFirst(prefix.count)) }
    }
}
