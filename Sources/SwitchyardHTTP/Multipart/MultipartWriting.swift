public import Foundation

extension MultipartForm {
    /// The maximum size in bytes of a form whose parts, all in memory, are joined into a single `Data`.
    static let joinedSizeLimit = 10_000_000

    /// Returns the form as a body.
    ///
    /// - Returns: Bytes if all parts are in memory and small, otherwise a stream. The length of the stream is unknown
    ///   only if the length of a part is unknown.
    /// - Throws: ``RequestError/multipart(part:reason:)`` and ``RequestError/file(path:reason:)``.
    public func body() throws(RequestError) -> HTTPBody {
        let segments = try self.segments()
        let length = try Self.totalLength(segments)
        if let length, length <= Self.joinedSizeLimit, let joined = Self.joined(segments) { return .data(joined) }
        var stream = HTTPBody.Stream(length: length) { SegmentedBodyReader(segments) }
        stream.enclosure = FileEnclosure(segments)
        return .stream(stream)
    }

    /// Returns the number of bytes in the body, or `nil` if the length of a part is unknown.
    ///
    /// - Throws: The same errors as ``body()``.
    package func length() throws(RequestError) -> Int64? {
        try Self.totalLength(segments())
    }

    /// Writes the whole form to a file, for transports or servers that need a file.
    ///
    /// An existing file is replaced when the form is complete.
    ///
    /// - Parameter file: The file to write.
    /// - Throws: ``RequestError/file(path:reason:)``, or an error of reading a part.
    public func write(to file: URL) async throws {
        guard file.isFileURL else { throw RequestError.file(path: file.absoluteString, reason: .notAFileURL) }
        let reader = SegmentedBodyReader(try segments())
        let partial = file.appendingPathExtension("partial-\(UUID().uuidString)")
        try await FileWriting.write(reader, to: partial, movingTo: file)
    }

    private static func joined(_ segments: [BodySegment]) -> Data? {
        var result = Data()
        for segment in segments {
            guard case .bytes(let data) = segment else { return nil }
            result += data
        }
        return result
    }

    private static func totalLength(_ segments: [BodySegment]) throws(RequestError) -> Int64? {
        var total: Int64 = 0
        var isKnown = true
        for segment in segments {
            guard let length = segment.length else {
                isKnown = false
                continue
            }
            let (sum, overflow) = total.addingReportingOverflow(length)
            guard length >= 0, !overflow else { throw .multipart(part: nil, reason: .invalidLength) }
            total = sum
        }
        return isKnown ? total : nil
    }

    // MARK: - Parts

    /// Returns the segments of the body.
    ///
    /// `outer` contains the enclosing forms, the outermost first.
    private func segments(in outer: [MultipartForm] = []) throws(RequestError) -> [BodySegment] {
        guard MultipartSyntax.isValid(boundary: boundary) else {
            throw .multipart(part: nil, reason: .invalidBoundary)
        }
        var segments: [BodySegment] = []
        var text = Data()
        for part in parts {
            text += try head(of: part)
            try append(part, in: outer + [self], after: &text, to: &segments)
            text += Data("\r\n".utf8)
        }
        text += Data("--\(boundary)--\r\n".utf8)
        segments.append(.bytes(text))
        return segments
    }

    /// Returns the delimiter, the header fields and the empty line of a part.
    private func head(of part: MultipartPart) throws(RequestError) -> Data {
        var text = "--\(boundary)\r\n"
        var fields = try part.disposition(isForm: subtype == "form-data").map { [$0] } ?? []
        fields += part.headers.fields
        if let type = part.effectiveContentType { fields.append(.contentType(type)) }
        let types = fields.count { $0.name.equalsIgnoringASCIICase("Content-Type") }
        guard types <= 1 else { throw .multipart(part: part.name, reason: .invalidHeader("Content-Type")) }
        for field in fields {
            // In the generated disposition, the escaped names may contain control characters, but no line breaks.
            let isDisposition = field.name == "Content-Disposition" && part.headers["Content-Disposition"] == nil
            guard isDisposition || field.isValid else {
                throw .multipart(part: part.name, reason: .invalidHeader(field.name))
            }
            text += "\(field.name): \(field.value)\r\n"
        }
        return Data("\(text)\r\n".utf8)
    }

    private func append(
        _ part: MultipartPart,
        in forms: [MultipartForm],
        after text: inout Data,
        to segments: inout [BodySegment]
    ) throws(RequestError) {
        switch part.content {
        case .data(let data):
            for form in forms where form.isBoundaryGiven { try form.refuseBoundary(in: data, part: part) }
            if data.count <= 4096 { return text += data }
            segments += [.bytes(text), .bytes(data)]
        case .file(let url):
            segments += [.bytes(text), .file(url, length: try FileBody.length(of: url))]
        case .stream(let stream):
            segments += [.bytes(text), .stream(stream, part: part.name)]
        case .form(let form):
            // No line in a part may start like a delimiter of an enclosing form (RFC 2046 section 5.1.1).
            guard !forms.contains(where: { form.boundary.hasPrefix($0.boundary) }) else {
                throw .multipart(part: part.name, reason: .boundaryInContent)
            }
            segments += [.bytes(text)]
            segments += try form.segments(in: forms)
        }
        text = Data()
    }

    private func refuseBoundary(in data: Data, part: MultipartPart) throws(RequestError) {
        let line = Data("--\(boundary)".utf8)
        guard data.starts(with: line) || data.range(of: Data("\r\n".utf8) + line) != nil else { return }
        throw .multipart(part: part.name, reason: .boundaryInContent)
    }
}

extension MultipartPart {
    fileprivate func disposition(isForm: Bool) throws(RequestError) -> HTTPHeaders.Field? {
        guard headers["Content-Disposition"] == nil else { return nil }
        guard let name else {
            guard !isForm else { throw .multipart(part: nil, reason: .missingName) }
            return fileName.flatMap { ContentDisposition(fileName: $0) }.map {
                .init(name: "Content-Disposition", value: $0.text)
            }
        }
        let escapedName = MultipartSyntax.escaped(MultipartSyntax.normalized(name))
        let file = fileName.map { "; filename=\"\(MultipartSyntax.escaped($0))\"" } ?? ""
        return .init(name: "Content-Disposition", value: "form-data; name=\"\(escapedName)\"\(file)")
    }

    /// The content type of the part; for a nested form, the content type of that form.
    fileprivate var effectiveContentType: String? {
        guard contentType == nil, case .form(let form) = content else { return contentType }
        return form.contentType
    }
}
