package import Foundation

/// The grammar of multipart bodies.
enum MultipartSyntax {
    /// Whether a boundary has 1 to 70 characters that RFC 2046 section 5.1.1 allows, the last no space.
    ///
    /// Beyond the RFC `!`, which is harmless and in use.
    static func isValid(boundary: String) -> Bool {
        let bytes = boundary.utf8
        return (1...70).contains(bytes.count) && bytes.last != UInt8(ascii: " ")
            && bytes.allSatisfy(boundaryCharacters.contains)
    }

    private static let boundaryCharacters = URLCharacters(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'()+_,-./:=? !"
    )

    /// The delimiter, the header fields and the empty line of a part.
    static func head(of part: MultipartPart, boundary: String, isForm: Bool) throws(RequestError) -> Data {
        var text = "--\(boundary)\r\n"
        var fields = try part.disposition(isForm: isForm).map { [$0] } ?? []
        fields += part.headers.fields
        if let type = part.effectiveContentType { fields.append(.contentType(type)) }
        let types = fields.count { $0.name.equalsIgnoringASCIICase("Content-Type") }
        guard types <= 1 else { throw .multipart(part: part.name, reason: .invalidHeader("Content-Type")) }
        for field in fields {
            // The name of a disposition may hold control characters that its escaping keeps, but no line break.
            let isDisposition = field.name == "Content-Disposition" && part.headers["Content-Disposition"] == nil
            guard isDisposition || field.isValid else {
                throw .multipart(part: part.name, reason: .invalidHeader(field.name))
            }
            text += "\(field.name): \(field.value)\r\n"
        }
        return Data("\(text)\r\n".utf8)
    }

    /// A name for a quoted parameter: CR, LF and the quote become `%0D`, `%0A` and `%22`, nothing else changes.
    ///
    /// So the WHATWG "multipart/form-data encoding algorithm", which all browsers follow; RFC 7578 forbids `filename*`.
    static func escaped(_ name: String) -> String {
        var result: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 13: result += "%0D".utf8
            case 10: result += "%0A".utf8
            case UInt8(ascii: "\""): result += "%22".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The name of a field with every line break as CR LF, as the algorithm has it for names (not for file names).
    static func normalized(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == 13 || $0 == 10 }) else { return name }
        var result: [UInt8] = []
        var previous: UInt8 = 0
        for byte in name.utf8 {
            if byte == 10, previous == 13 {
                previous = byte
                continue
            }
            if byte == 13 || byte == 10 { result += [13, 10] } else { result.append(byte) }
            previous = byte
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension MultipartPart {
    fileprivate func disposition(isForm: Bool) throws(RequestError) -> HTTPHeaders.Field? {
        guard headers["Content-Disposition"] == nil else { return nil }
        guard let name else {
            guard !isForm else { throw .multipart(part: nil, reason: .missingName) }
            return fileName.flatMap { ContentDisposition(fileName: $0) }.map { .contentDisposition($0.text) }
        }
        let escapedName = MultipartSyntax.escaped(MultipartSyntax.normalized(name))
        let file = fileName.map { "; filename=\"\(MultipartSyntax.escaped($0))\"" } ?? ""
        return .contentDisposition("form-data; name=\"\(escapedName)\"\(file)")
    }

    /// The content type; that of a nested form follows from it.
    fileprivate var effectiveContentType: String? {
        guard contentType == nil, case .form(let form) = content else { return contentType }
        return form.contentType
    }
}

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
