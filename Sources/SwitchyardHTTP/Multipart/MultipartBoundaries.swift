package import Foundation

/// Takes the boundaries out of multipart bodies (RFC 2046 section 5.1.1), so that two of the same parts are the same.
package enum MultipartBoundaries {
    /// Returns a body without its boundary, nor those of the bodies in it; one that is not multipart comes back as it is.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - contentType: Its type, with the boundary.
    ///   - depth: How deep bodies in it are looked at; four unless given.
    /// - Returns: The body, for comparing only.
    package static func removed(from body: Data, contentType: String, depth: Int = 4) -> Data {
        guard depth > 0, contentType.lowercased().hasPrefix("multipart/"),
            let boundary = MediaTypeParameters.value(of: "boundary", in: contentType)
        else { return body }
        let delimiter = Data("--\(boundary)".utf8)
        var output = Data()
        var rest = body[...]
        while let mark = rest.range(of: delimiter) {
            output += part(rest[..<mark.lowerBound], depth: depth - 1) + Data("--".utf8)
            rest = rest[mark.upperBound...]
        }
        return output + part(rest, depth: depth - 1)
    }

    /// What stands between two delimiters, which may be such a body itself.
    private static func part(_ bytes: Data, depth: Int) -> Data {
        let prefix = "content-type:"
        guard let gap = bytes.range(of: Data("\r\n\r\n".utf8)) else { return bytes }
        let lines = String(decoding: bytes[..<gap.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let line = lines.first(where: { $0.lowercased().hasPrefix(prefix) }) else { return bytes }
        let type = line.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces)
        guard type.lowercased().hasPrefix("multipart/") else { return bytes }
        let others = lines.filter { $0 != line }.joined(separator: "\r\n")
        return Data(others.utf8) + removed(from: bytes[gap.upperBound...], contentType: type, depth: depth)
    }
}
