import Foundation

/// Hides parts of a form of several parts (RFC 7578) without changing the rest of its bytes.
struct MultipartRedaction {
    /// Whether the content of a part under a name is replaced by `***`.
    let isHidden: (String) -> Bool
    /// What is made of the content of any other part, which has a content type or none.
    let body: (Data, String?) -> Data
    /// What is made of the name of a file.
    let text: (String) -> String

    /// Returns the form without its secrets; what is no such form comes back with what could be recognised hidden.
    ///
    /// Lines may end with a line feed alone.
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

    /// What stands between two delimiters, the line ends at both sides included.
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

    /// The head of a part, without secrets in the name of its file.
    private func head(_ bytes: Data, _ lines: String, _ fileName: String?) -> Data {
        guard let fileName, !fileName.isEmpty else { return bytes }
        let shown = text(fileName)
        return shown == fileName ? bytes : Data(lines.replacing(fileName, with: shown).utf8)
    }

    /// The value of a field of a part's head.
    private static func value(of name: String, in head: String) -> String? {
        let prefix = "\(name):"
        let line = head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(prefix) }
        return line.map { String($0.dropFirst(prefix.count)) }
    }
}
