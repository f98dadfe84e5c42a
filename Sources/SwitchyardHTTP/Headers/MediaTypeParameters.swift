/// The parameters of a media type such as `multipart/form-data; boundary="x"` (RFC 9110 section 8.3.1).
package enum MediaTypeParameters {
    /// The value of a parameter, without its quotes; `nil` when it is missing or empty.
    package static func value(of name: String, in mediaType: String) -> String? {
        for parameter in HeaderList.pieces(of: mediaType, separatedBy: ";").dropFirst() {
            guard let equals = parameter.firstIndex(of: "=") else { continue }
            guard parameter[..<equals].unicodeScalars.trimmed.equalsIgnoringASCIICase(name) else { continue }
            let value = unquoted(parameter[parameter.index(after: equals)...].unicodeScalars.trimmed)
            return value.isEmpty ? nil : value
        }
        return nil
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }
}
