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
/// The length is known before the form is sent. Files are sent from disk without being loaded into memory. The form can
/// be resent for another attempt.
public struct MultipartForm: Sendable {
    /// The text that separates the parts; the same for every attempt.
    public let boundary: String
    /// The subtype in the content type after `multipart/`; `form-data` by default.
    public var subtype: String
    /// The parts in order.
    ///
    /// A name may be repeated, for example for several files of one field.
    public private(set) var parts: [MultipartPart]
    /// Whether the app has set the boundary.
    ///
    /// Such a boundary may occur in the content of a part.
    let isBoundaryGiven: Bool

    /// Creates a form.
    ///
    /// - Parameters:
    ///   - parts: The parts.
    ///   - subtype: The subtype in the content type after `multipart/`.
    ///   - boundary: The text that separates the parts. If `nil`, the boundary has 128 random bits, so that no content
    ///     contains it by chance.
    public init(parts: [MultipartPart] = [], subtype: String = "form-data", boundary: String? = nil) {
        self.parts = parts
        self.subtype = subtype
        isBoundaryGiven = boundary != nil
        self.boundary = boundary ?? Self.randomBoundary()
    }

    /// Appends a part.
    public mutating func append(_ part: MultipartPart) {
        parts.append(part)
    }

    /// Appends parameters as fields.
    ///
    /// Nested parameters have the same names as in a query.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - options: The encoding options for names and values, which are not percent-encoded.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)``.
    public mutating func append(
        _ parameters: Parameters,
        options: ParameterEncodingOptions = ParameterEncodingOptions()
    ) throws(RequestError) {
        parts += try ParameterSerializer.pairs(of: parameters, options: options).map { .field($0.name, $0.value) }
    }

    /// The content type `multipart/form-data; boundary=...`, with quotes if the boundary needs them.
    public var contentType: String {
        let isToken = HTTPToken.isValid(boundary)
        return "multipart/\(subtype); boundary=\(isToken ? boundary : "\"\(boundary)\"")"
    }

    /// Returns the form with another boundary.
    package func with(boundary: String) -> MultipartForm {
        MultipartForm(parts: parts, subtype: subtype, boundary: boundary)
    }

    private static func randomBoundary() -> String {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max) | 1 << 63, radix: 16) }
        return "Switchyard-\(digits.joined())"
    }
}
