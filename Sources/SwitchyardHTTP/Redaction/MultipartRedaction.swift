import Foundation

/// Hides parts of a form of several parts (RFC 7578) without changing the rest of its bytes.
enum MultipartRedaction {
    /// Returns the form with the content of every part under a name that `isHidden` picks replaced by `***`.
    ///
    /// What is no such form comes back with what could be recognised hidden. The content of any other part is what `body`
    /// makes of it, which is told its content type.
    static func hidden(
        in data: Data,
        boundary: String,
        isHidden: (String) -> Bool,
        body: (Data, String?) -> Data
    ) -> Data {
        let delimiter = Data("--\(boundary)".utf8)
        var output = Data()
        var rest = data[...]
        while let mark = rest.range(of: delimiter) {
            output += part(rest[..<mark.lowerBound], isHidden, body)
            output += delimiter
            rest = rest[mark.upperBound...]
        }
        return output + part(rest, isHidden, body)
    }

    /// What stands between two delimiters, the line ends at both sides included.
    private static func part(_ bytes: Data, _ isHidden: (String) -> Bool, _ body: (Data, String?) -> Data) -> Data {
        guard let gap = bytes.range(of: Data("\r\n\r\n".utf8)) else { return bytes }
        let head = String(decoding: bytes[..<gap.lowerBound], as: UTF8.self)
        let name = value(of: "content-disposition", in: head).flatMap { ContentDisposition(parsing: $0)["name"] }
        if let name, isHidden(name) { return bytes[..<gap.upperBound] + Data("***\r\n".utf8) }
        let type = value(of: "content-type", in: head)?.trimmingCharacters(in: .whitespaces)
        let content = bytes[gap.upperBound...]
        let end = Data("\r\n".utf8)
        guard content.suffix(2) == end else { return bytes[..<gap.upperBound] + body(content, type) }
        return bytes[..<gap.upperBound] + body(content.dropLast(2), type) + end
    }

    /// The value of a field of a part's head.
    private static func value(of name: String, in head: String) -> String? {
        let prefix = "\(name):"
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
        return line.map { String($0.dropFirst(prefix.count)) }
    }
}
