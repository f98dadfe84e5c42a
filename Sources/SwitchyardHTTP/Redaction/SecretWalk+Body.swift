import Foundation

extension SecretWalk {
    /// A body by its content type, and where that does not tell by its first byte; what is no text stays.
    func body(_ data: Data, contentType: String?) -> Data {
        let type = contentType?.lowercased() ?? ""
        if type.hasPrefix("multipart/"), let boundary = MediaTypeParameters.value(of: "boundary", in: contentType ?? "")
        {
            return form(data, boundary: boundary)
        }
        let bytes = Array(data)[...]
        if type.hasPrefix("application/x-www-form-urlencoded") {
            let shown = query(bytes) ?? Array(bytes)
            return Data((Self.looksLikeJSON(shown[...]) ? json(shown[...]) : nil) ?? shown)
        }
        return walk(bytes, type).map { Data($0) } ?? data
    }

    private func walk(_ bytes: Bytes, _ type: String) -> [UInt8]? {
        if type.contains("json") || Self.looksLikeJSON(bytes) { return json(bytes) }
        let isMarkup = type.contains("xml") || type.contains("html") || Self.firstByte(of: bytes) == UInt8(ascii: "<")
        if isMarkup { return xml(bytes) }
        return type.hasPrefix("text/") || String(validUTF8: bytes) != nil ? text(bytes) : nil
    }

    /// A form of several parts, each of which has a type of its own; those within the deepest are hidden as they are: they
    /// come from anybody, and the stack has an end.
    private func form(_ data: Data, boundary: String) -> Data {
        guard depth > 0 else { return Data(mark) }
        return MultipartRedaction.hidden(in: data, boundary: boundary) {
            redaction.hides(parameter: $0)
        } body: {
            deeper.body($0, contentType: $1)
        }
    }
}
