package import Foundation

/// Removal of the boundaries from multipart bodies (RFC 2046 section 5.1.1), so that two bodies with equal parts are
/// equal.
package enum MultipartBoundaries {
    /// Returns a body without its boundary and without the boundaries of nested bodies.
    ///
    /// A body that is not multipart is returned unchanged.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - contentType: The content type with the boundary.
    ///   - depth: The maximum nesting depth of the bodies that are processed; four by default.
    /// - Returns: The body, suitable only for comparison.
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

    /// Returns the bytes between two delimiters, without the boundaries of a nested multipart body.
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
