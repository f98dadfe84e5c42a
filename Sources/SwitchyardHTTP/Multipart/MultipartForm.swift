public import Foundation

/// A body of several parts: fields, data, files and streams (RFC 7578).
///
/// ### Use
///
///     var form = MultipartForm()
///     form.append(.field("title", "Holiday"))
///     form.append(.file(movie, name: "movie"))
///     configuration.method = .post
///     configuration.body = .multipart(form)
///
/// The length is known before anything is sent, files go from disk to the network without a copy in memory, and the
/// form can be sent again for another attempt.
public struct MultipartForm: Sendable {
    /// The line that parts the parts; the same for every attempt.
    public let boundary: String
    /// What follows `multipart/` in the content type; `form-data` unless given.
    public var subtype: String
    /// The parts, in order; a name may repeat, as several files of one field do.
    public private(set) var parts: [MultipartPart]
    /// Whether the boundary was given and might occur in a part's content.
    let isBoundaryGiven: Bool

    /// Creates a form.
    ///
    /// - Parameters:
    ///   - parts: Its parts.
    ///   - subtype: What follows `multipart/` in the content type.
    ///   - boundary: The line that parts the parts; random unless given, with 128 bits that no content can hold by chance.
    public init(parts: [MultipartPart] = [], subtype: String = "form-data", boundary: String? = nil) {
        self.parts = parts
        self.subtype = subtype
        isBoundaryGiven = boundary != nil
        self.boundary = boundary ?? Self.randomBoundary()
    }

    /// Adds a part behind the others.
    public mutating func append(_ part: MultipartPart) {
        parts.append(part)
    }

    /// Adds parameters as fields, nested ones under the same names as in a query.
    ///
    /// - Parameters:
    ///   - parameters: The fields.
    ///   - options: How names and values are written; nothing is percent-encoded.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)``.
    public mutating func append(
        _ parameters: Parameters,
        options: ParameterEncodingOptions = ParameterEncodingOptions()
    ) throws(RequestError) {
        parts += try ParameterSerializer.pairs(of: parameters, options: options).map { .field($0.name, $0.value) }
    }

    /// The content type: `multipart/form-data; boundary=...`, in quotes where the boundary needs them.
    public var contentType: String {
        let isToken = HTTPToken.isValid(boundary)
        return "multipart/\(subtype); boundary=\(isToken ? boundary : "\"\(boundary)\"")"
    }

    /// The form with another boundary.
    package func with(boundary: String) -> MultipartForm {
        MultipartForm(parts: parts, subtype: subtype, boundary: boundary)
    }

    private static func randomBoundary() -> String {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max) | 1 << 63, radix: 16) }
        return "Switchyard-\(digits.joined())"
    }
}

extension MultipartForm {
    /// The number of bytes up to which a form that is in memory already is joined to one piece.
    static let joinedSizeLimit = 10_000_000

    /// Builds the body.
    ///
    /// - Returns: Bytes when everything is in memory, else a stream of known length (unless a part's is unknown).
    /// - Throws: ``RequestError/multipart(part:reason:)`` and ``RequestError/file(path:reason:)``.
    public func body() throws(RequestError) -> HTTPBody {
        let segments = try self.segments()
        let length = try Self.totalLength(segments)
        if let length, length <= Self.joinedSizeLimit, let joined = Self.joined(segments) { return .data(joined) }
        var stream = HTTPBody.Stream(length: length) { SegmentedBodyReader(segments) }
        stream.enclosure = FileEnclosure(segments)
        return .stream(stream)
    }

    /// The number of bytes of the body; `nil` when a part's is unknown.
    ///
    /// - Throws: What ``body()`` throws.
    package func length() throws(RequestError) -> Int64? {
        try Self.totalLength(segments())
    }

    /// Writes the whole form into a file, for transports or servers that need one; an older file is replaced at the end.
    ///
    /// - Parameter file: Where to write.
    /// - Throws: ``RequestError/file(path:reason:)``, or what reading a part throws.
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

    // MARK: - Segments

    /// What the body consists of, in a body of the forms around this one, the outermost first.
    private func segments(in outer: [MultipartForm] = []) throws(RequestError) -> [BodySegment] {
        guard MultipartSyntax.isValid(boundary: boundary) else {
            throw .multipart(part: nil, reason: .invalidBoundary)
        }
        var segments: [BodySegment] = []
        var text = Data()
        for part in parts {
            text += try MultipartSyntax.head(of: part, boundary: boundary, isForm: subtype == "form-data")
            try append(part, in: outer + [self], after: &text, to: &segments)
            text += Data("\r\n".utf8)
        }
        text += Data("--\(boundary)--\r\n".utf8)
        segments.append(.bytes(text))
        return segments
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
            // No line of a part may begin like a delimiter of the forms around it (RFC 2046 section 5.1.1).
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
