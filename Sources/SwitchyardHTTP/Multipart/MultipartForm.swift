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
