import Foundation

/// Hides parts of a form of several parts (RFC 7578) without changing the rest of its bytes.
enum MultipartRedaction {
    /// Returns the form with the content of every part under a name that `isHidden` picks replaced by `***`.
    ///
    /// What is no such form comes back with what could be recognised hidden.
    static func hidden(in data: Data, boundary: String, isHidden: (String) -> Bool) -> Data {
        let delimiter = Data("--\(boundary)".utf8)
        var output = Data()
        var rest = data[...]
        while let mark = rest.range(of: delimiter) {
            output += part(rest[..<mark.lowerBound], isHidden)
            output += delimiter
            rest = rest[mark.upperBound...]
        }
        return output + part(rest, isHidden)
    }

    /// What stands between two delimiters, the line ends at both sides included.
    private static func part(_ bytes: Data, _ isHidden: (String) -> Bool) -> Data {
        guard let gap = bytes.range(of: Data("\r\n\r\n".utf8)),
            let name = name(String(decoding: bytes[..<gap.lowerBound], as: UTF8.self)), isHidden(name)
        else { return bytes }
        return bytes[..<gap.upperBound] + Data("***\r\n".utf8)
    }

    /// The name that the head of a part gives it.
    private static func name(_ head: String) -> String? {
        let prefix = "content-disposition:"
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
        return line.flatMap { ContentDisposition(parsing: String($0.dropFirst(prefix.count)))["name"] }
    }
}
