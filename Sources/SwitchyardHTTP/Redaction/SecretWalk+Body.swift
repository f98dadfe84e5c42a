import Foundation
import SwitchyardServices

extension SecretWalk {
    /// Redacts a body by its content type, or by its first byte if the content type is inconclusive.
    ///
    /// A body that is not text is unchanged. The content type is not trusted. A multipart form without a boundary, a
    /// form labeled as JSON, and text in UTF-16 are also recognized.
    func body(_ data: Data, contentType: String?) -> Data {
        let type = (contentType ?? "").trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
        if let encoding = Self.wideEncoding(of: data, type) { return wide(data, encoding, type) }
        let named =
            type.hasPrefix("multipart/") ? MediaTypeParameters.value(of: "boundary", in: contentType ?? "") : nil
        if let boundary = Self.boundary(of: data, named: named) { return form(data, boundary: boundary) }
        let bytes = Array(data)[...]
        if type.hasPrefix("application/x-www-form-urlencoded") {
            let shown = query(bytes) ?? Array(bytes)
            return Data((Self.looksLikeJSON(shown[...]) ? json(shown[...]) : nil) ?? shown)
        }
        return walk(bytes, type).map { Data($0) } ?? data
    }

    private func walk(_ bytes: Bytes, _ type: String) -> [UInt8]? {
        if Self.looksLikeJSON(bytes) { return json(bytes) }
        if type.contains("json") {
            // A body that is labeled as JSON but does not start like JSON may be a form, or may have a line before the
            // JSON.
            let shown = json(bytes)
            return text(shown.map { $0[...] } ?? bytes) ?? shown
        }
        let isMarkup = type.contains("xml") || type.contains("html") || Self.firstByte(of: bytes) == UInt8(ascii: "<")
        if isMarkup { return xml(bytes) }
        return type.hasPrefix("text/") || String(validUTF8: bytes) != nil ? text(bytes) : nil
    }

    /// Redacts a multipart form.
    ///
    /// Each part is redacted by its own content type.
    ///
    /// A form at the maximum depth is hidden completely, because forms come from untrusted sources and the stack is
    /// limited.
    private func form(_ data: Data, boundary: String) -> Data {
        guard depth > 0 else { return Data(mark) }
        let parts = MultipartRedaction(
            isHidden: { redaction.hides(parameter: $0) },
            body: { deeper.body($0, contentType: $1) },
            text: { redaction.text($0) }
        )
        return parts.hidden(in: data, boundary: boundary)
    }

    /// Returns the boundary of a multipart form.
    ///
    /// This is the boundary in the content type if it occurs in the data. Otherwise it is the boundary in the first
    /// line, if a header field of a part follows (RFC 2046 section 5.1.1).
    private static func boundary(of data: Data, named: String?) -> String? {
        if let named, data.range(of: Data("--\(named)".utf8)) != nil { return named }
        let lines = data.prefix(4_096).drop { $0 == 13 || $0 == 10 }.split(separator: 10, maxSplits: 2)
        guard lines.count >= 2, lines[0].starts(with: "--".utf8) else { return nil }
        let field = String(decoding: lines[1].prefix(64), as: UTF8.self).lowercased()
        guard field.hasPrefix("content-") else { return nil }
        let boundary = String(decoding: lines[0].dropFirst(2), as: UTF8.self).trimmingCharacters(in: .whitespaces)
        return boundary.trimmingCharacters(in: .newlines).isEmpty ? nil : boundary.trimmingCharacters(in: .newlines)
    }
}

// MARK: - UTF-16

extension SecretWalk {
    /// Returns the encoding of UTF-16 text, from its byte order mark or its charset, or `nil` for any other text.
    private static func wideEncoding(of data: Data, _ type: String) -> String.Encoding? {
        if data.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        if data.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
        guard type.contains("utf-16") else { return nil }
        if type.contains("utf-16le") { return .utf16LittleEndian }
        return data.first == 0 || type.contains("utf-16be") ? .utf16BigEndian : .utf16LittleEndian
    }

    private func wide(_ data: Data, _ encoding: String.Encoding, _ type: String) -> Data {
        guard depth > 0, let text = String(data: data, encoding: encoding) else { return data }
        let plain = Data(text.utf8)
        let narrow = type.replacing("utf-16", with: "utf-8")
        let shown = deeper.body(plain, contentType: narrow)
        guard shown != plain else { return data }
        return String(decoding: shown, as: UTF8.self).data(using: encoding) ?? Data(mark)
    }
}

// MARK: - Data URLs

extension SecretWalk {
    /// Redacts the content of a `data:` URL (RFC 2397).
    ///
    /// Returns `nil` if the content has no secret.
    func dataURL(_ bytes: Bytes) -> [UInt8]? {
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        guard depth > 0 else { return bytes[...comma] + mark }
        let head = String(decoding: bytes[bytes.startIndex + 5..<comma], as: UTF8.self).lowercased()
        let written = bytes[(comma + 1)...]
        let plain = Self.percentDecoded(written) ?? Array(written)
        let isBase64 = head.replacing(" ", with: "").hasSuffix(";base64")
        let content = isBase64 ? LenientBase64.data(plain) : Data(plain)
        let type = head.split(separator: ";base64", omittingEmptySubsequences: false).first.map(String.init)
        let shown = deeper.body(content, contentType: type?.isEmpty == false ? type : "text/plain")
        guard shown != content else { return nil }
        return bytes[...comma]
            + (isBase64 ? Array(shown.base64EncodedString().utf8) : Self.percentEncoded(Array(shown)))
    }

    /// Whether the bytes are a `data:` URL, not a line of an event stream.
    static func isDataURL(_ bytes: Bytes) -> Bool {
        guard bytes.count > 5, bytes[bytes.startIndex + 4] == UInt8(ascii: ":"),
            bytes.prefix(4).map({ $0 | 0x20 }).elementsEqual("data".utf8)
        else { return false }
        let head = bytes.dropFirst(5).prefix(256).prefix { $0 != UInt8(ascii: ",") }
        guard head.endIndex < bytes.endIndex, bytes[head.endIndex] == UInt8(ascii: ",") else { return false }
        return head.isEmpty || head.first == UInt8(ascii: ";") || head.contains(UInt8(ascii: "/"))
    }
}
